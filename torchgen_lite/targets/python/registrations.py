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
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import ANY, NONE, Annotation, returned
from torchgen_lite.schema import Argument, SchemaKind
from torchgen_lite.schema.grouped import grouped
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
    structured = _structured(registered, by_name, find)
    selected = [by_name[r.operator.name] for r in registered if r.origin is Origin.backend_select]
    found = [*differentiation]
    for key, kernels in structured.items():
        module = f"structured_{key.lower()}"
        overloads = [kernel.overload for kernel in kernels]
        found += [key_file.generated(key, overload, module, "structured") for overload in overloads]
        calls = [call for one in kernels for call in (one.meta, one.implementation) if call]
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
    found += chosen
    for one in registered:
        located = None
        if one.origin in WRITTEN and one.kernel:
            located = find(one.kernel.kernel)
        if located is not None or one.origin is Origin.falls_through:
            found.append(key_file.Registered(one.key, by_name[one.operator.name], located))
    if selected:
        module = BACKEND_SELECT.lower()
        found += [
            key_file.generated(BACKEND_SELECT, overload, module, "select") for overload in selected
        ]
        # An option that the operator lacks is `None`.
        given = [(one, tensor_options(one.schema)) for one in selected]
        names = ("dtype", "layout", "device")
        options = []
        for overload, its_options in given:
            shown = [name if name in its_options else "None" for name in names]
            options.append((overload, shown))
        yield kernel_file(package, module, "backendselect", selected, kernels=options)
    blocks = [prefix + backend for _, prefix in CURRENT.per_backend for backend in CURRENT.backends]
    ordered = (*blocks, *CURRENT.functionalities, *CURRENT.aliases)
    order = {key: position for position, key in enumerate(ordered)}
    last = len(order)
    by_key = grouped(found, lambda one: one.key)
    keys = sorted(by_key, key=lambda key: (order.get(key, last), key))
    for key in keys:
        yield key_file.build_key_file(package, key, by_key[key])
    constants = used_constants(package.overloads)
    if constants:
        yield _constants_file(package, constants)
    own = ["constants"] if constants else []
    own += [f"register_{key.lower()}" for key in keys]
    context = {"modules": own}
    yield OutputFile(f"{package.root}/registration.py", "python/registration.py.j2", context)


def _meta_names(
    registered: Sequence[Registration], by_name: Mapping[str, Overload]
) -> dict[str, str]:
    """`meta_add_Tensor` for `aten::add.out`: named after the functional variant if there is one."""
    found: dict[str, str] = {}
    for one in registered:
        if one.origin in STRUCTURED and one.source is not None:
            name = f"meta_{by_name[one.operator.name].flat}"
            if one.operator.kind is SchemaKind.functional:
                found[one.source.name] = name
            elif one.operator is one.source:
                found.setdefault(one.source.name, name)
    return found


def author_functions(package: Package, registered: Sequence[Registration]) -> Iterator[Wanted]:
    """The kernels, and the meta functions of structured operators. Structured operators have them
    only for the out variant."""
    by_name = package.by_name
    metas = _meta_names(registered, by_name)
    for one in registered:
        if one.source not in (None, one.operator):
            continue
        schema = one.operator.schema
        wanted: list[tuple[str, str, Span | None, Sequence[Argument], Annotation]] = []
        if one.kernel is not None and one.kernel.kernel not in BY_WORD:
            gives = returned(python.returns(schema.returns))
            gives = NONE if one.origin in STRUCTURED else gives
            for kernel in one.kernel.kernels:
                given = kernel.kernel, one.key, kernel.kernel_span, schema.arguments, gives
                wanted.append(given)
        if one.source is not None and one.key == META:
            wanted.append((metas[one.source.name], META, schema.name_span, schema.inputs, ANY))
        for name, key, place, taken, gives in wanted:
            written = partial(python.annotated, taken)
            yield Wanted(one.operator.function, name, key, place, passed(taken), written, gives)


def _structured(
    registered: Sequence[Registration], by_name: Mapping[str, Overload], find: key_file.FindKernel
) -> dict[str, list[StructuredView]]:
    """The kernels of each key. The variants of an operator are adjacent, with the out variant last;
    the out variants are in source order."""
    metas = _meta_names(registered, by_name)
    position = {name: index for index, name in enumerate(by_name)}
    found = [
        (position[one.source.name], one.operator is one.source, one.source, one)
        for one in registered
        if one.origin in STRUCTURED and one.source is not None
    ]
    kernels: dict[str, list[StructuredView]] = {}
    for _, _, source, one in sorted(found, key=itemgetter(0, 1)):
        meta = find(metas[source.name])
        implementation = None
        if one.kernel is not None:
            implementation = find(one.kernel.kernel)
        if meta is None or (one.kernel is not None and implementation is None):
            continue
        member = by_name[one.operator.name]
        outs = [identifier(a.name) for a in source.schema.out]
        specs = ["spec"]
        if len(outs) > 1:
            specs = [f"spec[{index}]" for index in range(len(outs))]
        names = outs
        if member.kind is SchemaKind.inplace:
            names = ["self"]
        passed = python.passed_on(member.schema.inputs)
        results = list(zip(names, specs, outs, strict=True))
        view = StructuredView(member, meta, implementation, passed, results)
        kernels.setdefault(one.key, []).append(view)
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
