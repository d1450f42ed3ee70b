"""Every kernel that is registered in the end: what is declared, and what follows from it.

A structured out kernel stands for the functional and in-place kernels of its backend; its meta function
gives the Meta kernels of all three, and, for backends that have only the out kernel, functional and
in-place kernels under CompositeExplicitAutogradNonFunctional. An in-place operator without a composite
kernel has a Meta kernel that returns `self` (torchgen `dest.RegisterDispatchKey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.analysis.derive.backend_index import GENERIC_KEYS, BackendKernel, kernels_of
from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.derive.model import Derived, VariantGroup
from torchgen_lite.analysis.derive.names import root_of
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


def registrations(derived: Derived, name: str) -> tuple[Registration, ...]:
    """What is registered for one function of the program, by its name (`aten::add.Tensor`)."""
    function = derived.function_of[name]
    if function.manual_kernel_registration:
        return ()
    group = derived.group_of.get(name)
    if group is not None and group.structured:
        return tuple(_structured(function, group, derived.kinds[name]))
    origin = "derived" if name in derived.generated else "declared"
    kernels = kernels_of(function)
    found = [Registration(key, kernel.kernel, origin) for key, kernel in kernels.items()]
    if _returns_self_on_meta(function, kernels, derived.kinds[name]):
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


def _structured(
    function: NativeFunction, group: VariantGroup, kind: SchemaKind
) -> Iterator[Registration]:
    out = kernels_of(group.out)
    own = kernels_of(function)
    for key in dict.fromkeys((*out, *own)):
        if key in (META, NON_FUNCTIONAL):
            continue
        if key in out and out[key].structured:
            yield Registration(key, out[key].kernel, "structured")
        elif key in own:
            yield Registration(key, own[key].kernel, "declared")
    meta = f"structured_{group.functional.func.local_name.replace('.', '_')}"
    yield Registration(META, meta, "meta")
    if kind is not SchemaKind.out:
        yield Registration(NON_FUNCTIONAL, meta, "default")


def _returns_self_on_meta(
    function: NativeFunction, kernels: dict[str, BackendKernel], kind: SchemaKind
) -> bool:
    """In-place operators keep shape and type; lists, which return nothing, are left out."""
    if kind is not SchemaKind.inplace or META in kernels or len(function.func.returns) != 1:
        return False
    nested = "CompositeImplicitAutogradNestedTensor"
    return not any(key in GENERIC_KEYS and key != nested for key in kernels)
