"""The kernels in each registration file, the kernels of structured operators, and
`registration.py`, which imports the registrations of all keys.

One implementation of a structured operator, written for the out variant, serves all three variants. The in-place
variant checks that `self` has the shape and dtype of the result; the out variant resizes its out arguments. The author
writes the meta function and the implementation. Meta kernels need no entry in the schema, because they are the
same kernels without the implementation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import tensor_options
from torchgen_lite.analysis.policy import BY_WORD, STRUCTURED, WRITTEN, Origin
from torchgen_lite.analysis.registrations import BACKEND_SELECT, META, Registration
from torchgen_lite.diagnostics import Span
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import identifiers
from torchgen_lite.languages.python.signature import ANY, NONE, Annotation, returned
from torchgen_lite.schema import Argument, SchemaKind
from torchgen_lite.schema.grouped import grouped, places_of, without_none
from torchgen_lite.targets.author import Wanted, passed
from torchgen_lite.targets.output import Files, OutputFile
from torchgen_lite.targets.python import key_file
from torchgen_lite.targets.python.package import (
    Overload,
    Package,
    constant_of,
    kernel_file,
    used_constants,
)
from torchgen_lite.targets.python.selected import build_selected

# The options by which a kernel for BackendSelect chooses.
_SELECTING = ("dtype", "layout", "device")


class StructuredView(NamedTuple):
    """One generated kernel: `meta` describes the results, and `implementation` (None for a Meta
    kernel) fills them.

    Both are called with `passed`. In-place and out variants get their results as arguments. Each of
    `results` is a local or an argument, its spec, and the implementation's argument for it.
    """

    overload: Overload
    meta: key_file.KernelReference
    implementation: key_file.KernelReference | None
    passed: Sequence[str]
    results: Sequence[tuple[str, str, str]]


def build_registrations(
    package: Package,
    registered: Sequence[Registration],
    find: key_file.FindKernel,
    differentiation: Sequence[key_file.Registered],
) -> Files:
    """The files, with what autograd registers."""
    by_name = package.by_name
    lines = [*differentiation]
    for key, kernels in _structured(registered, by_name, find).items():
        module = f"structured_{key.lower()}"
        overloads = []
        calls = []
        for kernel in kernels:
            overloads.append(kernel.overload)
            lines.append(key_file.generated(key, kernel.overload, module, "structured"))
            calls += without_none([kernel.meta, kernel.implementation])
        yield kernel_file(
            package,
            module,
            "structured",
            overloads,
            key=key,
            modules=key_file.imported_modules(calls),
            structured=kernels,
        )
    files, chosen = build_selected(package, registered, find)
    yield from files
    lines += chosen
    for registration in registered:
        located = None
        if registration.origin in WRITTEN and registration.kernel:
            located = find(registration.kernel.kernel)
        if located is not None or registration.origin is Origin.falls_through:
            lines.append(
                key_file.Registered(registration.key, by_name[registration.operator.name], located)
            )
    selecting = []
    for registration in registered:
        if registration.origin is Origin.backend_select:
            overload = by_name[registration.operator.name]
            module = BACKEND_SELECT.lower()
            lines.append(key_file.generated(BACKEND_SELECT, overload, module, "select"))
            options = tensor_options(overload.schema)
            # An option that the operator lacks is `None`.
            given = [name if name in options else "None" for name in _SELECTING]
            selecting.append((overload, given))
    if selecting:
        overloads = [overload for overload, _ in selecting]
        yield kernel_file(package, module, "backendselect", overloads, kernels=selecting)
    blocks = [prefix + backend for _, prefix in CURRENT.per_backend for backend in CURRENT.backends]
    ordered = (*blocks, *CURRENT.functionalities, *CURRENT.aliases)
    order = places_of(ordered)
    last = len(order)
    by_key = grouped(lines, lambda line: line.key)
    modules = []
    constants = used_constants(package.overloads)
    if constants:
        modules.append("constants")
        yield _constants_file(package, constants)
    for key in sorted(by_key, key=lambda key: (order.get(key, last), key)):
        modules.append(f"register_{key.lower()}")
        yield key_file.build_key_file(package, key, by_key[key])
    context = {"modules": modules}
    yield OutputFile(f"{package.root}/registration.py", "python/registration.py.j2", context)


def _meta_names(
    registered: Sequence[Registration], by_name: Mapping[str, Overload]
) -> dict[str, str]:
    """`meta_add_Tensor` for `aten::add.out`: named after the functional variant if there is one."""
    names: dict[str, str] = {}
    for registration in registered:
        if registration.origin in STRUCTURED and registration.source is not None:
            name = f"meta_{by_name[registration.operator.name].flat}"
            if registration.operator.kind is SchemaKind.functional:
                names[registration.source.name] = name
            elif registration.operator is registration.source:
                names.setdefault(registration.source.name, name)
    return names


def author_functions(package: Package, registered: Sequence[Registration]) -> Iterator[Wanted]:
    """The kernels, and the meta functions of structured operators. Structured operators have them
    only for the out variant."""
    by_name = package.by_name
    metas = _meta_names(registered, by_name)
    for registration in registered:
        if registration.source not in (None, registration.operator):
            continue
        schema = registration.operator.schema
        wanted: list[tuple[str, str, Span | None, Sequence[Argument], Annotation]] = []
        if registration.kernel is not None and registration.kernel.kernel not in BY_WORD:
            gives = returned(python.returns(schema.returns))
            gives = NONE if registration.origin in STRUCTURED else gives
            for kernel in registration.kernel.kernels:
                given = kernel.kernel, registration.key, kernel.kernel_span, schema.arguments, gives
                wanted.append(given)
        if registration.source is not None and registration.key == META:
            wanted.append(
                (metas[registration.source.name], META, schema.name_span, schema.inputs, ANY)
            )
        for name, key, place, taken, gives in wanted:
            written = partial(python.annotated, taken)
            yield Wanted(
                registration.operator.function, name, key, place, passed(taken), written, gives
            )


def _structured(
    registered: Sequence[Registration], by_name: Mapping[str, Overload], find: key_file.FindKernel
) -> dict[str, list[StructuredView]]:
    """The kernels of each key. The variants of an operator are adjacent, with the out variant last;
    the out variants are in source order."""
    metas = _meta_names(registered, by_name)
    position = places_of(by_name)
    members = []
    for registration in registered:
        source = registration.source
        if registration.origin in STRUCTURED and source is not None:
            place = position[source.name], registration.operator is source
            members.append((place, source, registration))
    kernels: dict[str, list[StructuredView]] = {}
    for _, source, registration in sorted(members, key=itemgetter(0)):
        meta = find(metas[source.name])
        implementation = None
        if registration.kernel is not None:
            implementation = find(registration.kernel.kernel)
        if meta is None or (registration.kernel is not None and implementation is None):
            continue
        member = by_name[registration.operator.name]
        outs = identifiers(source.schema.out)
        specs = ["_spec"]
        if len(outs) > 1:
            specs = [f"_spec[{index}]" for index in range(len(outs))]
        names = outs
        if member.kind is SchemaKind.inplace:
            names = ["self"]
        passed = python.passed_on(member.schema.inputs)
        results = list(zip(names, specs, outs, strict=True))
        view = StructuredView(member, meta, implementation, passed, results)
        kernels.setdefault(registration.key, []).append(view)
    return kernels


def _constants_file(package: Package, constants: Sequence[str]) -> OutputFile:
    """`constants.py` gives the stubs the framework's constants as defaults.

    The stubs cannot import them: the framework imports the stubs (Tensor's methods), so its constants
    exist only after them.
    """
    defaults = []
    for overload in package.overloads:
        of_arguments = []
        for argument in overload.schema.arguments:
            name = constant_of(argument)
            if name:
                of_arguments.append((argument.name, name))
        if of_arguments:
            defaults.append((overload, of_arguments))
    context = {"framework": package.framework, "constants": constants, "defaults": defaults}
    return OutputFile(f"{package.root}/constants.py", "python/constants.py.j2", context)
