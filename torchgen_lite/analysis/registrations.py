"""Every kernel that is registered in the end: what is declared, and what follows from it.

A structured out kernel stands for the functional and in-place kernels of its backend; its meta function
gives the Meta kernels of all three, and, for backends that have only the out kernel, functional and
in-place kernels under CompositeExplicitAutogradNonFunctional. An in-place operator without a composite
kernel has a Meta kernel that returns `self` (torchgen `dest.RegisterDispatchKey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, kernels_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

BACKEND_SELECT = "BackendSelect"
META = "Meta"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"


class Registration(NamedTuple):
    """A kernel of a function. `origin` says why it is there, and `kernel` what it calls.

    `declared`: a kernel of the table (or the implicit one) · `derived`: the kernel of a derived variant ·
    `structured`: the impl function, after meta · `meta`: the meta function alone · `default`: the out
    kernel of whichever backend · `self`: nothing, `self` is returned · `select`: the function itself, under
    the key that the tensor options stand for.
    """

    key: str
    kernel: str
    origin: str


def registrations(operator: Operator) -> tuple[Registration, ...]:
    """What is registered for one operator."""
    function, group = operator.function, operator.group
    if function.manual_kernel_registration:
        return ()
    if group is not None and group.structured:
        return tuple(_structured(operator, group))
    origin = "derived" if operator.is_derived else "declared"
    found = [Registration(kernel.key, kernel.kernel, origin) for kernel in operator.kernels]
    if _returns_self_on_meta(operator):
        found.append(Registration(META, "", "self"))
    if selects_backend(function):
        found.append(Registration(BACKEND_SELECT, "", "select"))
    return tuple(found)


def selects_backend(function: NativeFunction) -> bool:
    """Whether no tensor says on which backend to make the result, but tensor options do.

    `new_*` and `*_like` have a tensor to go by.
    """
    name = root_of(function.func.base_name)
    if name.startswith("new_") or name.endswith("_like"):
        return False
    return argument_layout(function.func).options is not None


def _structured(operator: Operator, group: VariantGroup) -> Iterator[Registration]:
    out = {kernel.key: kernel for kernel in kernels_of(group.out)}
    own = {kernel.key: kernel for kernel in operator.kernels}
    for key in dict.fromkeys((*out, *own)):
        if key in (META, NON_FUNCTIONAL):
            continue
        if key in out and out[key].is_structured:
            yield Registration(key, out[key].kernel, "structured")
        elif key in own:
            yield Registration(key, own[key].kernel, "declared")
    meta = f"structured_{group.functional.func.flat_name}"
    yield Registration(META, meta, "meta")
    if operator.kind is not SchemaKind.out:
        yield Registration(NON_FUNCTIONAL, meta, "default")


def _returns_self_on_meta(operator: Operator) -> bool:
    """In-place operators keep shape and type; lists, which return nothing, are left out."""
    keys = {kernel.key for kernel in operator.kernels}
    if operator.kind is not SchemaKind.inplace or META in keys or len(operator.schema.returns) != 1:
        return False
    return not keys & (COMPOSITE_KEYS - {"CompositeImplicitAutogradNestedTensor"})
