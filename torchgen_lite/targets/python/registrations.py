"""One registration file for each dispatch key in use, and `registration.py`, which imports them all.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl("mm", _matrix.mm_cpu)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from torchgen_lite.analysis.kernels import DENSE_BACKENDS
from torchgen_lite.analysis.registrations import selects_backend
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.autograd import kernel_view
from torchgen_lite.targets.python.kernels import (
    FindKernel,
    KernelReference,
    imported_modules,
)
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.package import (
    Package,
    libraries_of,
    type_imports,
    used_constants,
)
from torchgen_lite.targets.python.structured import (
    StructuredView,
    structured_groups,
    structured_kernels,
)


@dataclass(frozen=True, slots=True)
class MissingKernel:
    """A kernel that a dispatch table names and no kernel module defines."""

    overload: Overload
    key: str
    kernel: str


@dataclass(frozen=True, slots=True)
class RegistrationView:
    """The `kernel` (an expression) of an `operator` (a literal)."""

    library: str
    operator: str
    kernel: str


@dataclass(frozen=True, slots=True)
class DefaultView:
    """The framework's `constant` that is the default of a stub's `parameter` (a literal)."""

    stub: str
    parameter: str
    constant: str


@dataclass(slots=True)
class _KeyFile:
    """What is registered under one key, while it is collected."""

    implementations: list[RegistrationView] = field(default_factory=list)
    structured: list[StructuredView] = field(default_factory=list)
    references: list[KernelReference] = field(default_factory=list)
    overloads: list[Overload] = field(default_factory=list)

    def add(self, overload: Overload, expression: str) -> None:
        self.overloads.append(overload)
        library = identifier(overload.names.namespace)
        name = quote(overload.schema.local_name)
        self.implementations.append(RegistrationView(library, name, expression))


def build_registrations(
    package: Package,
    resolved: Resolved,
    dispatch: Mapping[int, tuple[tuple[str, str], ...]],
    find: FindKernel,
    more: Sequence[str] = (),
) -> tuple[list[OutputFile], list[MissingKernel]]:
    """`dispatch` gives (key, kernel) pairs for the index of each overload in the package.

    `more` are registration modules that others make.
    """
    files: dict[str, _KeyFile] = {}
    missing: list[MissingKernel] = []
    structured = _add_structured(
        package, dict(enumerate(package.overloads)), dispatch, find, files, missing
    )
    for index, overload in enumerate(package.overloads):
        for key, kernel in dispatch[index]:
            if (id(overload), key) in structured:
                continue
            located = find(kernel)
            if located is None:
                missing.append(MissingKernel(overload, key, kernel))
                continue
            file = files.setdefault(key, _KeyFile())
            file.references.append(located)
            file.add(overload, located.expression)
    order = {key: position for position, key in enumerate(_key_order())}
    keys = sorted(files, key=lambda key: order.get(key, len(order)))
    outputs = [_key_file(package, key, files[key]) for key in keys]
    modules = [f"register_{key.lower()}" for key in keys]
    selected = [o for o in package.overloads if selects_backend(resolved.by_name[o.function.name])]
    if selected:
        outputs.append(_backend_select_file(package, selected))
        modules.append("register_backendselect")
    outputs += list(_constants_file(package))
    if used_constants([o.function for o in package.overloads]):
        modules.insert(0, "constants")
    context = {"modules": [*modules, *more]}
    outputs.append(
        OutputFile(f"{package.root}/registration.py", "python/registration.py.j2", context)
    )
    return outputs, missing


def _add_structured(
    package: Package,
    by_index: Mapping[int, Overload],
    dispatch: Mapping[int, tuple[tuple[str, str], ...]],
    find: FindKernel,
    files: dict[str, _KeyFile],
    missing: list[MissingKernel],
) -> set[tuple[int, str]]:
    """Add the three kernels of every structured group; return the (overload, key) pairs now served."""
    index_of = {id(o): i for i, o in by_index.items()}
    served: set[tuple[int, str]] = set()
    for group in structured_groups(package.overloads):
        entries = dispatch[index_of[id(group.out)]]
        meta = find(group.meta_name)
        if meta is None:
            missing.append(MissingKernel(group.out, "Meta", group.meta_name))
            continue
        backends = [(k, n) for k, n in entries if k in DENSE_BACKENDS]
        if all(key != "Meta" for key, _ in backends):
            backends.append(("Meta", ""))
        for key, kernel in backends:
            implementation = find(kernel) if kernel else None
            if kernel and implementation is None:
                missing.append(MissingKernel(group.out, key, kernel))
                continue
            file = files.setdefault(key, _KeyFile())
            file.references += [meta] if implementation is None else [meta, implementation]
            expression = implementation.expression if implementation else None
            for member, view in structured_kernels(group, key, meta.expression, expression):
                file.structured.append(view)
                file.add(member, view.name)
                served.add((id(member), key))
    return served


def _key_order() -> list[str]:
    """Backends, then functionality keys, then aliases: any order works, this one is easy to find."""
    per_backend = [
        prefix + backend for _, prefix in CURRENT.per_backend for backend in CURRENT.backends
    ]
    return [*per_backend, *CURRENT.functionalities, *CURRENT.aliases]


def _key_file(package: Package, key: str, file: _KeyFile) -> OutputFile:
    functions = [o.function for o in file.overloads] if file.structured else []
    context = {
        "key": key,
        "modules": imported_modules(file.references),
        "framework": package.options.framework,
        "types": type_imports(package, functions, frozenset()),
        "libraries": libraries_of(file.overloads),
        "structured": file.structured,
        "implementations": file.implementations,
    }
    return OutputFile(f"{package.root}/register_{key.lower()}.py", "python/register.py.j2", context)


def _backend_select_file(package: Package, overloads: list[Overload]) -> OutputFile:
    context = {
        "framework": package.options.framework,
        "types": type_imports(package, [o.function for o in overloads], frozenset()),
        "libraries": libraries_of(overloads),
        "kernels": [kernel_view("select", overload) for overload in overloads],
    }
    return OutputFile(
        f"{package.root}/register_backendselect.py", "python/register_backendselect.py.j2", context
    )


def _constants_file(package: Package) -> Iterator[OutputFile]:
    """`constants.py` gives the stubs the framework's constants as defaults.

    The stubs cannot import them: the framework imports the stubs (Tensor's methods), so its constants
    exist only after them.
    """
    using = [o for o in package.overloads if used_constants([o.function])]
    if not using:
        return
    context = {
        "framework": package.options.framework,
        "constants": used_constants([o.function for o in using]),
        "defaults": [view for overload in using for view in _defaults(overload)],
    }
    yield OutputFile(f"{package.root}/constants.py", "python/constants.py.j2", context)


def _defaults(overload: Overload) -> Iterator[DefaultView]:
    names = used_constants([overload.function])
    for stub in (overload.names.stub, overload.names.redispatch_stub):
        for argument in overload.schema.arguments:
            value = python.default_text(python.default(argument)) if argument.default else ""
            if value in names:
                yield DefaultView(stub, quote(identifier(argument.name)), value)
