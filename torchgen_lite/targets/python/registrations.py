"""One registration file for each dispatch key in use, and `registration.py`, which imports them all.

aten = Library("aten", "IMPL", "CPU", dispatcher=dispatcher)
aten.impl("mm", _matrix.mm_cpu)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from torchgen_lite.analysis.policy import STRUCTURED, WRITTEN, Origin
from torchgen_lite.analysis.registrations import META, Registration
from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.key_tables import CURRENT, key_order
from torchgen_lite.schema import SchemaKind
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
from torchgen_lite.targets.python.structured import StructuredView, structured_kernel

_BACKEND_SELECT = "register_backendselect"


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
    registered: Sequence[Registration],
    find: FindKernel,
    more: Sequence[str] = (),
) -> tuple[list[OutputFile], list[MissingKernel]]:
    """The files, and kernels that are nowhere. `more` are registration modules that others make."""
    by_name = {overload.function.name: overload for overload in package.overloads}
    metas = _meta_names(registered, by_name)
    missing = list(_missing(registered, by_name, metas, find))
    files: dict[str, _KeyFile] = {}
    _add_structured(registered, by_name, metas, find, files)
    for one in registered:
        located = find(one.kernel.kernel) if one.origin in WRITTEN and one.kernel else None
        if located is not None:
            file = files.setdefault(one.key, _KeyFile())
            file.references.append(located)
            file.add(by_name[one.operator.name], located.expression)
    order = {key: position for position, key in enumerate(key_order(CURRENT))}
    keys = sorted(files, key=lambda key: order.get(key, len(order)))
    selected = [
        by_name[one.operator.name] for one in registered if one.origin is Origin.backend_select
    ]
    if selected:
        more = [_BACKEND_SELECT, *more]
    modules = [_module(key, more) for key in keys]
    outputs = [
        _key_file(package, key, module, files[key])
        for key, module in zip(keys, modules, strict=True)
    ]
    if selected:
        outputs.append(_backend_select_file(package, selected))
    outputs += list(_constants_file(package))
    if used_constants([o.function for o in package.overloads]):
        modules.insert(0, "constants")
    context = {"modules": [*modules, *more]}
    outputs.append(
        OutputFile(f"{package.root}/registration.py", "python/registration.py.j2", context)
    )
    return outputs, missing


def _meta_names(
    registered: Sequence[Registration], by_name: Mapping[str, Overload]
) -> dict[str, str]:
    """`meta_add_Tensor` for `aten::add.out`: after the functional variant, if there is one."""
    found: dict[str, str] = {}
    for one in registered:
        if one.origin in STRUCTURED and one.source is not None:
            name = f"meta_{by_name[one.operator.name].names.flat}"
            if one.operator.kind is SchemaKind.functional:
                found[one.source.name] = name
            elif one.operator is one.source:
                found.setdefault(one.source.name, name)
    return found


def _missing(
    registered: Sequence[Registration],
    by_name: Mapping[str, Overload],
    metas: Mapping[str, str],
    find: FindKernel,
) -> Iterator[MissingKernel]:
    """What structured operators lack is said once, of the out variant."""
    for one in registered:
        if one.source not in (None, one.operator):
            continue
        names = [one.kernel.kernel] if one.kernel is not None else []
        if one.source is not None and one.key == META:
            names.append(metas[one.source.name])
        for name in names:
            if find(name) is None:
                yield MissingKernel(by_name[one.operator.name], one.key, name)


def _add_structured(
    registered: Sequence[Registration],
    by_name: Mapping[str, Overload],
    metas: Mapping[str, str],
    find: FindKernel,
    files: dict[str, _KeyFile],
) -> None:
    """Variants stand together, in the order of the out variants, which come last."""
    position = {name: index for index, name in enumerate(by_name)}
    found = [
        (position[one.source.name], one.operator is one.source, one.source, one)
        for one in registered
        if one.origin in STRUCTURED and one.source is not None
    ]
    for _, _, source, one in sorted(found, key=itemgetter(0, 1)):
        references = [find(metas[source.name])]
        if one.kernel is not None:
            references.append(find(one.kernel.kernel))
        located = [reference for reference in references if reference is not None]
        if len(located) < len(references):
            continue
        file = files.setdefault(one.key, _KeyFile())
        file.references += located
        meta, implementation = [*[r.expression for r in located], ""][:2]
        out, member = by_name[source.name], by_name[one.operator.name]
        view = structured_kernel(out, member, one.key, meta, implementation)
        file.structured.append(view)
        file.add(member, view.name)


def _module(key: str, generated: Sequence[str]) -> str:
    """The module of written kernels; beside one of generated kernels for the same key it has another name."""
    name = f"register_{key.lower()}"
    return f"{name}_written" if name in generated else name


def _key_file(package: Package, key: str, module: str, file: _KeyFile) -> OutputFile:
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
    return OutputFile(f"{package.root}/{module}.py", "python/register.py.j2", context)


def _backend_select_file(package: Package, overloads: list[Overload]) -> OutputFile:
    context = {
        "framework": package.options.framework,
        "types": type_imports(package, [o.function for o in overloads], frozenset()),
        "libraries": libraries_of(overloads),
        "kernels": [kernel_view("select", overload) for overload in overloads],
    }
    return OutputFile(
        f"{package.root}/{_BACKEND_SELECT}.py", "python/register_backendselect.py.j2", context
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
