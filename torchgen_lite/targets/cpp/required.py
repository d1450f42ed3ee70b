"""The kernels that the author of a library writes, whatever the target: `kernels.h` declares them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import AUTHORS
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.kernels import (
    global_name,
    split_class,
    split_kernel,
)
from torchgen_lite.languages.cpp.reserved import LIBRARIES
from torchgen_lite.languages.cpp.signature import (
    CppSignature,
    signature_headers,
    unrooted_signature,
)
from torchgen_lite.languages.cpp.text import parameter_list
from torchgen_lite.loader.entry.entry import Backend, DispatchEntry, KernelRow
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.targets.cpp.conditions import STABLE_VERSION_MACRO, VERSION_MACRO
from torchgen_lite.targets.cpp.layout import Blocks, Layout, include_blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.options import LibraryOptions
from torchgen_lite.targets.output import AuthorFunction, Context, Files, Header, OutputFile


class Kernel(NamedTuple):
    """A kernel of an operator under one key, which is in the namespace `scope`, or `is_member` of a class of that name;
    `backend`: the backend whose file names it; `row`: the row that names it, if it is one of several under the key.
    """

    operator: CppOperator
    key: str
    scope: str
    name: str
    signature: CppSignature
    backend: Backend | None
    is_member: bool
    row: KernelRow | None = None

    @property
    def qualified(self) -> str:
        return global_name(self.scope, self.name)

    @property
    def class_header(self) -> str:
        """The header of a backend's class, which has the name that torchgen gives it; empty for a kernel of no backend."""
        if self.backend is None or not self.is_member:
            return ""
        return f"{self.backend.key}NativeFunctions.h"


Signatures = Callable[[CppOperator, DispatchEntry], CppSignature]
"""The signature that a kernel needs."""


def author_kernels(
    registered: Iterable[Registration],
    operators: Sequence[CppOperator],
    signature: Signatures,
    options: LibraryOptions,
    layout: Layout,
) -> list[Kernel]:
    """The kernels that are registered directly, or chosen among, in source order."""
    by_facts = {operator.facts: operator for operator in operators}
    kernels: list[Kernel] = []
    for registration in registered:
        if registration.origin in AUTHORS and registration.kernel is not None:
            kernels += named_kernels(
                by_facts[registration.operator], registration.kernel, signature, options, layout
            )
    return kernels


def named_kernels(
    operator: CppOperator,
    line: DispatchEntry,
    signature: Signatures,
    options: LibraryOptions,
    layout: Layout,
) -> Iterator[Kernel]:
    """The kernels of a line of `dispatch`. Those that the YAML names alone are in the namespace of the library."""
    rows: Sequence[KernelRow | None] = line.rows or (None,)
    for entry, row in zip(line.kernels, rows):
        backend = entry.backend
        scope, name = split_kernel(entry.kernel, layout.namespace)
        type_ = signature(operator, entry)
        is_backends = backend is not None and bool(backend.class_name)
        is_member = is_backends or scope in options.kernel_classes
        yield Kernel(operator, entry.key, scope, name, type_, backend, is_member, row)


def implemented(kernels: Iterable[Kernel]) -> Iterator[tuple[Kernel, Sequence[Kernel]]]:
    """What is registered: a kernel, or the function that chooses among several, as a kernel, with these."""

    def line(kernel: Kernel) -> tuple[str, str | None, str]:
        return kernel.operator.flat, kernel.operator.function.torch, kernel.key

    for alternatives in grouped(kernels, line).values():
        first = alternatives[0]
        if first.row is None:
            yield first, ()
        else:
            yield chooser(alternatives, first.operator), alternatives


def chooser(kernels: Sequence[Kernel], caller: CppOperator) -> Kernel:
    """The function that chooses among kernels of one key, as a kernel. In another file than theirs, an operator that
    follows from them has one of its own."""
    first = kernels[0]
    name = f"choose_{first.key}_{first.operator.flat}"
    if caller.shard != first.operator.shard:
        name = f"{name}_for_{caller.flat}"
    return first._replace(scope="", name=name, is_member=False, row=None)


# The declarations in each namespace or class: the condition of each, and its signature.
Prototypes = dict[str, dict[tuple[str, CppSignature], None]]


def kernels_headers(layout: Layout, kernels: Sequence[Kernel], includes: Blocks) -> Files:
    """`kernels.h`, and a header for the classes of each backend; `includes` declare the types of the signatures.

    The author's classes are declared in the author's headers.
    """
    members = grouped(kernels, lambda kernel: kernel.class_header)
    members.pop("", None)
    for name, of_header in members.items():
        classes = [
            (*split_class(scope), prototypes)
            for scope, prototypes in _prototypes(of_header).items()
        ]
        declared = {"includes": includes, "classes": classes}
        yield OutputFile(layout.header(name), "cpp/kernel_class.h.j2", declared)
    free = [kernel for kernel in kernels if not kernel.is_member]
    context: Context = {
        "library": layout.namespace,
        "includes": [*includes, [layout.own(name) for name in members]] if members else includes,
        "scopes": _prototypes(free),
    }
    yield OutputFile(layout.header("kernels.h"), "cpp/kernels.h.j2", context)


def _prototypes(kernels: Sequence[Kernel]) -> Prototypes:
    """The declarations. A kernel that operators share is declared under the condition of each."""
    scopes: Prototypes = {}
    for kernel in kernels:
        scopes.setdefault(kernel.scope, {})[kernel.operator.guard, prototype(kernel)] = None
    return scopes


def kernel_includes(layout: Layout, headers: Sequence[str]) -> list[list[Header]]:
    """The headers that declare the kernels: the author's, whose kernels are then proven, or our
    own."""
    if not headers:
        return [[layout.own("kernels.h")]]
    return [[Header(name, True) for name in headers], [layout.own("verify_kernels.h")]]


def prototype(kernel: Kernel) -> CppSignature:
    """`at::Tensor scale_cpu(const at::Tensor& self, double s)`."""
    signature = unrooted_signature(kernel.signature)
    return CppSignature(kernel.name, signature.returns, signature.plain)


def shared_names(kernels: Sequence[Kernel]) -> frozenset[str]:
    """Full names shared by kernels of several types: only a typed call says which one is meant."""
    types: dict[str, str] = {}
    shared = set[str]()
    for kernel in kernels:
        type_ = kernel.signature.type
        if types.setdefault(kernel.qualified, type_) != type_:
            shared.add(kernel.qualified)
    return frozenset(shared)


def declared(
    kernels: Sequence[Kernel], shared: Collection[str], headers: Sequence[str]
) -> list[str]:
    """The kernels that the author's headers have to declare, if there are any: not those of `shared_names`."""
    if not headers:
        return []
    return [kernel.qualified for kernel in kernels if kernel.qualified not in shared]


def author_functions(
    kernels: Sequence[Kernel], layout: Layout, includes: Blocks = ()
) -> Iterator[AuthorFunction]:
    """Each kernel in the form common to all languages; `includes` declare more than their types.

    Kernels of PyTorch, such as `at::native::view`, and those of `device_kernels.cpp` exist already.
    """
    for kernel in kernels:
        namespace = kernel.scope
        name = kernel.name
        if namespace.partition("::")[0] in LIBRARIES or namespace == f"{layout.namespace}::device":
            continue
        declared = prototype(kernel)
        blocks = [*includes, *include_blocks(signature_headers([kernel.signature]))]
        if kernel.is_member:
            namespace, class_ = split_class(namespace)
            name = f"{class_}::{name}"
        if kernel.class_header:
            blocks = [[layout.own(kernel.class_header)]]
        if any(macro in kernel.operator.guard for macro in (VERSION_MACRO, STABLE_VERSION_MACRO)):
            blocks.append([layout.own("version.h")])
        yield AuthorFunction(
            name,
            (f"{kernel.key} of {kernel.operator.function.name}",),
            f"{declared.returns} {name}({parameter_list(declared.parameters)})",
            headers=list(chain.from_iterable(blocks)),
            namespace=namespace,
            last=layout.own("verify_kernels.h").name,
            guard=kernel.operator.guard,
        )


def undeclared_functions(operators: Iterable[Operator], layout: Layout) -> Iterator[AuthorFunction]:
    """The kernels of operators with a type that has none in C++, of which `lint` says so: without a declaration."""
    for operator in operators:
        for entry in operator.author_kernels:
            scope, name = split_kernel(entry.kernel, layout.namespace)
            uses = (f"{entry.key} of {operator.function.name}",)
            last = layout.own("verify_kernels.h").name
            yield AuthorFunction(name, uses, "", namespace=scope, last=last)
