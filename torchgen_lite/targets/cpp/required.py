"""The kernels that the author of a library writes, whatever the target: `kernels.h` declares them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.policy import WRITTEN
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.kernels import include_macro, qualified, split_class, split_kernel
from torchgen_lite.languages.cpp.signature import (
    CppSignature,
    signature_headers,
    unrooted_signature,
)
from torchgen_lite.languages.cpp.text import parameter_list
from torchgen_lite.loader.entry import Backend, DispatchEntry
from torchgen_lite.targets.cpp.conditions import STABLE_VERSION_MACRO, VERSION_MACRO
from torchgen_lite.targets.cpp.layout import Blocks, Layout, include_blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.names import LIBRARIES
from torchgen_lite.targets.cpp.registrations import ImplCall
from torchgen_lite.targets.output import AuthorFunction, Header, OutputFile


class Kernel(NamedTuple):
    """A kernel of an operator under one key, as the YAML names it; `backend`: the backend whose
    file names it; `is_member`: it is a static member of a class."""

    operator: CppOperator
    key: str
    name: str
    signature: CppSignature
    backend: Backend | None = None
    is_member: bool = False


def author_kernels(
    registered: Iterable[Registration],
    operators: Sequence[CppOperator],
    signature: Callable[[CppOperator, DispatchEntry], CppSignature],
    classes: Collection[str],
) -> list[Kernel]:
    """The kernels that are registered directly, in source order; `signature` gives the signature
    that each needs, `classes` are the author's classes."""
    by_facts = {operator.facts: operator for operator in operators}
    found = []
    for one in registered:
        if one.origin in WRITTEN and one.kernel is not None:
            operator = by_facts[one.operator]
            type_ = signature(operator, one.kernel)
            entry = one.kernel
            is_backends = entry.backend is not None and bool(entry.backend.class_name)
            is_member = is_backends or split_kernel(entry.kernel, "")[0] in classes
            found.append(Kernel(operator, one.key, entry.kernel, type_, entry.backend, is_member))
    return found


# The declarations in each namespace or class: the condition of each, and its signature.
Prototypes = dict[str, dict[tuple[str, CppSignature], None]]


def kernels_headers(
    layout: Layout, kernels: Sequence[Kernel], includes: Blocks
) -> Iterator[OutputFile]:
    """`kernels.h`, and a header for the classes of each backend; `includes` declare the types of the signatures.

    The author's classes are declared in the author's headers.
    """
    members: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        if kernel.backend is not None and kernel.is_member:
            members.setdefault(class_header(kernel.backend), []).append(kernel)
    for name, own in members.items():
        classes = [
            (*split_class(scope), prototypes)
            for scope, prototypes in _prototypes(own, layout.namespace).items()
        ]
        declared = {"includes": includes, "classes": classes}
        yield OutputFile(layout.header(name), "cpp/kernel_class.h.j2", declared)
    free = [kernel for kernel in kernels if not kernel.is_member]
    context: dict[str, object] = {
        "macro": include_macro(layout.namespace),
        "includes": [*includes, [layout.own(name) for name in members]] if members else includes,
        "scopes": _prototypes(free, layout.namespace),
    }
    yield OutputFile(layout.header("kernels.h"), "cpp/kernels.h.j2", context)


def class_header(backend: Backend) -> str:
    """The header of a backend's class, which has the name that torchgen gives it."""
    return f"{backend.key}NativeFunctions.h"


def _prototypes(kernels: Sequence[Kernel], namespace: str) -> Prototypes:
    """The declarations. A kernel that operators share is declared under the condition of each."""
    scopes: Prototypes = {}
    for kernel in kernels:
        scope, _ = split_kernel(kernel.name, namespace)
        scopes.setdefault(scope, {})[kernel.operator.guard, prototype(kernel, namespace)] = None
    return scopes


def kernel_includes(layout: Layout, headers: Sequence[str]) -> list[Sequence[Header]]:
    """The headers that declare the kernels: the author's, whose kernels are then proven, or our
    own."""
    if not headers:
        return [[layout.own("kernels.h")]]
    return [[Header(name, True) for name in headers], [layout.own("verify_kernels.h")]]


def prototype(kernel: Kernel, namespace: str) -> CppSignature:
    """`at::Tensor scale_cpu(const at::Tensor& self, double s)`."""
    signature = unrooted_signature(kernel.signature)
    name = split_kernel(kernel.name, namespace)[1]
    return CppSignature(name, signature.returns, signature.plain)


def shared_names(kernels: Sequence[Kernel], namespace: str) -> frozenset[str]:
    """Full names shared by kernels of several types: only a typed call says which one is meant."""
    found: dict[str, set[str]] = {}
    for kernel in kernels:
        name = qualified(kernel.name, namespace)
        found.setdefault(name, set()).add(kernel.signature.type)
    return frozenset([name for name, own in found.items() if len(own) > 1])


def kernel_registrations(
    kernels: Sequence[Kernel],
    layout: Layout,
    headers: Sequence[str],
    function: str,
    type_of: Callable[[Kernel], str],
) -> tuple[list[ImplCall], Blocks]:
    """The registrations of the author's kernels, and what declares these.

    `function` is the macro around a kernel's address, and `type_of` names the type of a kernel with
    a shared name by its typed call: `ops::add_Tensor::schema*`.
    """
    namespace = layout.namespace
    shared = shared_names(kernels, namespace)
    includes = kernel_includes(layout, headers)
    if shared:
        includes[-1] = [*includes[-1], layout.own("operators.h")]
    found = []
    for kernel in kernels:
        name = qualified(kernel.name, namespace)
        address = f"static_cast<{type_of(kernel)}>(&{name})" if name in shared else f"&{name}"
        registered = f"{function}({address})"
        declared = name if headers and name not in shared else ""
        guard = kernel.operator.guard
        found.append(ImplCall(kernel.operator, kernel.key, registered, guard, None, declared))
    return found, includes


def author_functions(
    kernels: Sequence[Kernel], layout: Layout, includes: Blocks = ()
) -> Iterator[AuthorFunction]:
    """Each kernel in the form common to all languages; `includes` declare more than their types.

    Kernels of PyTorch, such as `at::native::view`, and those of `device_kernels.cpp` exist already.
    """
    for kernel in kernels:
        namespace, _ = split_kernel(kernel.name, layout.namespace)
        if namespace.partition("::")[0] in LIBRARIES or namespace == f"{layout.namespace}::device":
            continue
        declared = prototype(kernel, layout.namespace)
        blocks = [*includes, *include_blocks(signature_headers([kernel.signature]))]
        name = declared.name
        if kernel.is_member:
            namespace, class_ = split_class(namespace)
            name = f"{class_}::{name}"
        if kernel.backend is not None and kernel.is_member:
            blocks = [[layout.own(class_header(kernel.backend))]]
        if any(one in kernel.operator.guard for one in (VERSION_MACRO, STABLE_VERSION_MACRO)):
            blocks.append([layout.own("version.h")])
        yield AuthorFunction(
            name,
            (f"{kernel.key} of {kernel.operator.function.name}",),
            f"{declared.returns} {name}({parameter_list(declared.parameters)})",
            headers=tuple(chain.from_iterable(blocks)),
            namespace=namespace,
            last=layout.own("verify_kernels.h").name,
            guard=kernel.operator.guard,
        )
