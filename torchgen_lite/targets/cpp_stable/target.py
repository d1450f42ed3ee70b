"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.reserved import STABLE
from torchgen_lite.targets.cpp.choices import called_by_name, check_conditions, choice_headers
from torchgen_lite.targets.cpp.conditions import STABLE_VERSION_MACRO, condition
from torchgen_lite.targets.cpp.layout import (
    Blocks,
    Layout,
    library_layout,
    module_layout,
    namespace_header,
)
from torchgen_lite.targets.cpp.model import CppOperator, build_operators
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.proof import FUNCTIONS, Relation, proof_files
from torchgen_lite.targets.cpp.registrations import module_file
from torchgen_lite.targets.cpp.required import (
    Kernel,
    author_functions,
    author_kernels,
    undeclared_functions,
)
from torchgen_lite.targets.cpp.schema_hashes import schema_hashes
from torchgen_lite.targets.cpp.selection import (
    any_number,
    check_copies,
    check_library,
    check_macro,
    check_schemas,
)
from torchgen_lite.targets.cpp_stable.calls import build_calls, declaration_includes
from torchgen_lite.targets.cpp_stable.options import TARGET, StableOptions
from torchgen_lite.targets.cpp_stable.registrations import asked, build_registrations
from torchgen_lite.targets.cpp_stable.unsupported import check_entry, check_types
from torchgen_lite.targets.generation import generation_beside
from torchgen_lite.targets.left_out import BROUGHT, check_brought, select
from torchgen_lite.targets.output import AuthorFunction, Files, Selection, TargetResult


def build_cpp_stable(program: Program, options: StableOptions) -> TargetResult:
    """Every file of the library, and what the stable ABI cannot carry."""
    selection = select_cpp_stable(program, options)
    functions = selection.functions
    diagnostics = list(selection.diagnostics)
    for operator in selection.operators:
        diagnostics += check_entry(operator, program.config.torch, options.target_version)
    diagnostics += check_brought(program, TARGET, selection.operators, BROUGHT)
    diagnostics += check_names(program, TARGET, selection.operators, STABLE.namespaces, options)
    diagnostics += [*check_schemas(program, functions), *check_library(functions)]
    diagnostics += check_macro(program, TARGET, functions, options)
    diagnostics += check_copies(program, TARGET)
    layout = library_layout(functions, options)
    diagnostics += check_conditions(functions, asked(layout.namespace))
    return TargetResult(_files(selection, program, options), diagnostics)


def select_cpp_stable(program: Program, options: StableOptions) -> Selection:
    """The operators that have typed calls."""
    return select(program, TARGET, options.skip, any_number)


def author_cpp_stable(program: Program, options: StableOptions) -> Iterator[AuthorFunction]:
    selection = select_cpp_stable(program, options)
    typed: list[Operator] = []
    typeless: list[Operator] = []
    for operator in selection.operators:
        (typeless if any(check_types(operator)) else typed).append(operator)
    layout, _, kernels = _library(selection._replace(operators=typed), program, options)
    return chain(author_functions(kernels, layout), undeclared_functions(typeless, layout))


def _library(
    selection: Selection, program: Program, options: StableOptions
) -> tuple[Layout, Sequence[CppOperator], list[Kernel]]:
    """Where files go, the operators, and the kernels, which take what the typed calls take."""
    functions = selection.functions
    layout = module_layout(functions, options)
    operators = build_operators(
        selection.operators,
        layout.shards,
        lambda operator: stable.signature(operator.schema),
        partial(condition, macro=STABLE_VERSION_MACRO),
        STABLE.spelled,
        layout.given,
    )
    registered = generation_beside(program).in_cpp(selection)
    kernels = author_kernels(registered, operators, lambda o, _: o.signature, options, layout)
    return layout, operators, kernels


def _files(selection: Selection, program: Program, options: StableOptions) -> Files:
    layout, operators, kernels = _library(selection, program, options)
    yield from build_calls(operators, layout)
    relation = _relation(kernels) if options.kernel_headers else Relation()
    declares = not options.kernel_headers

    def includes(proven: Sequence[Kernel]) -> Blocks:
        return declaration_includes([kernel.operator for kernel in proven], layout)

    generation = generation_beside(program)
    python = generation.python_alone(generation.in_cpp(selection))
    yield from proof_files(layout, kernels, includes, relation, declares=declares, python=python)
    yield from choice_headers(layout, kernels, "cpp_stable")
    yield from build_registrations(operators, kernels, layout, options)
    yield from namespace_header(layout, "STABLE_TORCH_LIBRARY")
    yield from schema_hashes(program, layout, options)
    if options.module:
        yield module_file(layout, options.module)


def _relation(kernels: Sequence[Kernel]) -> Relation:
    """How kernels of the author's headers are compared: by what they are called with, so that `std::vector<int64_t>` and
    `const std::vector<int64_t>&` are as good as a view."""
    return Relation(
        "unpacked",
        "wide",
        by_name=called_by_name(kernels),
        exactly=("torch::stable::detail::unbox_type_t", "as_is"),
        folder="cpp_stable",
        copied=(FUNCTIONS,),
    )
