"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import (
    AUTOGRAD_KERNELS,
    BY_WORD,
    STRUCTURED,
    UNKNOWN_VIEWS,
    WRITTEN,
    Origin,
)
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import Diagnostic, has_errors
from torchgen_lite.languages.cpp.reserved import TORCH
from torchgen_lite.languages.cpp.torch_types import CLASS_PREFIX
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.grouped import without_none
from torchgen_lite.targets.cpp.choices import check_conditions, choice_headers
from torchgen_lite.targets.cpp.layout import Layout, copied_files, namespace_header
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.registrations import module_file
from torchgen_lite.targets.cpp.required import author_functions
from torchgen_lite.targets.cpp.schema_hashes import schema_hashes
from torchgen_lite.targets.cpp.selection import (
    any_number,
    check_library,
    check_macro,
    check_schemas,
)
from torchgen_lite.targets.cpp_torch import references, registrations, structured, types
from torchgen_lite.targets.cpp_torch.calls import build_calls, build_methods
from torchgen_lite.targets.cpp_torch.differentiation import build_differentiation
from torchgen_lite.targets.cpp_torch.following import following_registrations
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.options import TARGET, TorchOptions
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall
from torchgen_lite.targets.generation import formula_functions, generation_beside
from torchgen_lite.targets.left_out import PLAIN, check_brought, select
from torchgen_lite.targets.output import (
    AuthorFunction,
    Files,
    OutputFile,
    Selection,
    TargetResult,
)


def _library(program: Program, options: TorchOptions) -> Library:
    """The operators of all ranges of releases. Of those around an operator's further entry, a range adds only what is
    registered because of that: the out variant's kernel for a functional one, for example."""
    operators: dict[Operator, None] = {}
    named: dict[Operator | None, None] = {}
    registered: list[Registration] = []
    diagnostics: list[Diagnostic] = []
    first = {(function.name, function.torch) for function in program.by_range[""].functions}
    for text, ranged in program.by_range.items():
        selection = select_cpp_torch(ranged, options)
        diagnostics += [d for d in selection.diagnostics if not (text and d in diagnostics)]
        for operator in selection.operators:
            function = operator.function
            is_further = function.torch == text and (function.name, text) not in first
            if not text or is_further:
                operators[operator] = None
        if options.calls_only:
            continue
        for registration in generation_beside(ranged).in_cpp(selection):
            related = registration.operator, registration.source
            if not operators.keys().isdisjoint(related):
                registered.append(registration)
                named |= dict.fromkeys(related)
    selection = Selection(list(operators), selection.policy, diagnostics)
    facts = without_none(dict.fromkeys([*operators, *named]))
    return Library(options, selection, facts, registered)


def build_cpp_torch(program: Program, options: TorchOptions) -> TargetResult:
    """Every file of the library, and what libtorch cannot take."""
    library = _library(program, options)
    selection = library.selection
    functions = selection.functions
    diagnostics = list(selection.diagnostics)
    inner = frozenset[str]()
    if not options.calls_only:
        inner = TORCH.namespaces
    diagnostics += check_names(program, TARGET, selection.operators, inner, options)
    diagnostics += check_schemas(program, functions)
    diagnostics += check_macro(program, TARGET, functions, options)
    if not options.calls_only:
        diagnostics += check_library(functions)
        diagnostics += check_brought(program, TARGET, selection.operators, ("vmap", "axes", *PLAIN))
        diagnostics += registrations.check_tags(program, functions)
        diagnostics += references.check_references(library.registered)
        diagnostics += check_conditions(functions, library.asked)
        diagnostics += registrations.check_rows(library)
    if has_errors(diagnostics):
        return TargetResult(diagnostics=diagnostics)
    if options.calls_only:
        return TargetResult(_calls(library.operators, library.layout), diagnostics)
    autograd = build_differentiation(library, formula_functions(program.modules))
    files = chain(_files(program, library), autograd.files)
    return TargetResult(files, (*diagnostics, *autograd.diagnostics))


def select_cpp_torch(program: Program, options: TorchOptions) -> Selection:
    """The operators that have typed calls."""
    problem = partial(_problem, classes=options.types)
    selection = select(program, TARGET, options.skip, problem, calls_only=options.calls_only)
    return selection._replace(
        policy=selection.policy._replace(elsewhere=generation_beside(program).derived_in_python)
    )


def author_cpp_torch(program: Program, options: TorchOptions) -> Iterator[AuthorFunction]:
    """The kernels; those of structured operators are members of classes."""
    library = _library(program, options)
    layout = library.layout
    kernels = author_functions(registrations.torch_kernels(library), layout)
    groups = structured.structured_groups(library.operators, layout.namespace)
    return chain(kernels, structured.author_members(groups, layout))


def _calls(operators: Sequence[CppOperator], layout: Layout) -> Files:
    yield from namespace_header(layout, "TORCH_LIBRARY")
    yield from build_calls(operators, layout)
    yield from build_methods(operators, layout)


def _called(library: Library, lent: Collection[str]) -> list[CppOperator]:
    """The operators with typed calls: those that generated kernels call, and others unless PyTorch has calls for
    them."""
    boxed = {*BY_WORD.values(), Origin.autocast_over, Origin.functionalize, Origin.underived}
    uncalled = WRITTEN | STRUCTURED | boxed | {Origin.copied, Origin.selected}
    generated = set[str]()
    for registration in library.registered:
        if registration.origin not in uncalled:
            generated.add(registration.operator.name)
            if registration.source is not None:
                generated.add(registration.source.name)
    called = []
    for operator in library.operators:
        is_called = operator.function.name in generated or not _has_calls(operator, lent)
        if is_called and not operator.facts.is_derived:
            called.append(operator)
    return called


def _has_calls(operator: CppOperator, lent: Collection[str]) -> bool:
    """Whether an operator is known to be PyTorch's: the lists of a backend's file name no others in its namespaces."""
    function = operator.function
    if function.name in lent or not function.is_pytorchs:
        return function.name in lent
    kernels = operator.facts.kernels
    return bool(kernels) and all(kernel.backend is not None for kernel in kernels)


_BOXED_KERNELS = ("autocast.h", "fallback.h", "functionalize.h", "underived.h")
_AUTOGRAD = ("autograd.h", "tensor_memory.h")
# What generated code includes, by the reason for which a kernel is registered.
_COPIED = {
    **dict.fromkeys((*AUTOGRAD_KERNELS, *UNKNOWN_VIEWS), _AUTOGRAD),
    Origin.underived: ("underived_kernel.h", *_AUTOGRAD),
    Origin.from_out: ("from_out.h",),
    Origin.reference: ("reference.h", *_AUTOGRAD),
}
# A library that allocates the tensors of this key is a device.
_DEVICE = "PrivateUse1"
_ALLOCATES = ("aten::empty.memory_format", _DEVICE)


def _copied_headers(library: Library, implemented: Sequence[TorchImplCall]) -> set[str]:
    """The headers and sources that every library has as they are, of which a library gets those that it uses."""
    included = {call.header for call in implemented}
    names = {name for name in _BOXED_KERNELS if library.layout.own(name) in included}
    for registration in library.registered:
        names.update(_COPIED.get(registration.origin, ()))
        # The backend that the library is can fall back to the CPU for what it does not name.
        kernel = registration.kernel
        is_of_backend = kernel is not None and kernel.backend is not None
        if is_of_backend or registration.key.endswith(_DEVICE):
            names.add("fallback.h")
        if (registration.operator.name, registration.key) == _ALLOCATES:
            names |= {"device.h", "device_kernels.cpp"}
    if any(call.wrapper is not None and call.wrapper.is_compared for call in implemented):
        names.add("tensor_memory.h")
    return names


def _files(program: Program, library: Library) -> Files:
    layout = library.layout
    options = library.options
    yield from _calls(_called(library, program.resolved.lent), layout)
    kernels = registrations.torch_kernels(library)
    implemented = [
        *registrations.kernel_registrations(kernels, library),
        *structured.structured_registrations(library),
        *following_registrations(library),
        *registrations.boxed_registrations(library),
        *references.reference_registrations(library),
    ]
    python = generation_beside(program).python_alone(library.registered)
    yield from registrations.build_kernels(kernels, library, python)
    groups = structured.structured_groups(library.operators, layout.namespace)
    yield from structured.build_structured(groups, layout)
    tags = registrations.known_tags(program)
    yield from registrations.build_registrations(library, implemented, tags)
    names = _copied_headers(library, implemented)
    yield from copied_files(layout, "cpp_torch", *sorted(names))
    yield from choice_headers(layout, kernels, "cpp_torch")
    if "underived.h" in names:
        context = {"namespace": layout.namespace, "folder": layout.folder}
        yield OutputFile(layout.source("underived.cpp"), "cpp_torch/underived.cpp.j2", context)
    yield from schema_hashes(program, layout, options)
    if options.module:
        yield module_file(layout, options.module)


def _problem(function: NativeFunction, classes: Collection[str]) -> str:
    """Why libtorch cannot take such an operator, or cannot without one of the author's `classes`;
    empty if it can."""
    for place, type_ in types.refused(function, classes):
        if type_.startswith(CLASS_PREFIX) and type_ not in classes:
            problem = "has a class without a C++ type under `types` of the target"
        else:
            problem = "has a type that libtorch cannot pass to a kernel"
        return f"{problem}: {place} is `{type_}`"
    are_out = [argument.is_out for argument in function.func.arguments]
    if are_out != sorted(are_out):
        # libtorch compares kernels with the schema as it is written.
        return "has an argument behind an out argument, which a kernel takes last: write it before that"
    return any_number(function)
