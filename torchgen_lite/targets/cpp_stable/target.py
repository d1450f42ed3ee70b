"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.cpp.layout import Blocks, library_layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.proof import proof_files
from torchgen_lite.targets.cpp.registrations import module_file
from torchgen_lite.targets.cpp.required import (
    Kernel,
    author_functions,
    author_kernels,
    kernels_headers,
)
from torchgen_lite.targets.cpp.selection import (
    any_number,
    check_copies,
    check_library,
    check_schemas,
    default_namespace,
)
from torchgen_lite.targets.cpp_stable.calls import build_calls, declaration_includes
from torchgen_lite.targets.cpp_stable.model import build_operators
from torchgen_lite.targets.cpp_stable.options import TARGET, StableOptions
from torchgen_lite.targets.cpp_stable.registrations import STABLE_LIBRARY, build_registrations
from torchgen_lite.targets.cpp_stable.unsupported import WantedReleases, check_entry
from torchgen_lite.targets.output import AuthorFunction, OutputFile, Selection, TargetResult
from torchgen_lite.targets.skipped import select

# Names that the namespace of a library has.
INNER_NAMESPACES = frozenset({"detail", "functions", "ops", "proof"})


def build_cpp_stable(program: Program, options: StableOptions) -> TargetResult:
    """Every file of the library, and what the stable ABI cannot carry."""
    selection = select_cpp_stable(program, options)
    functions, diagnostics = selection.functions, list(selection.diagnostics)
    wanted = WantedReleases(program.config.torch, options.target_version)
    for operator in selection.operators:
        diagnostics += check_entry(operator, wanted)
    namespace = options.namespace or default_namespace(functions)
    diagnostics += check_names(
        program, TARGET, selection.operators, namespace, INNER_NAMESPACES, options
    )
    diagnostics += [*check_schemas(program, functions), *check_library(program, functions)]
    diagnostics += check_copies(program, TARGET)
    if has_errors(diagnostics):
        return TargetResult(diagnostics=tuple(diagnostics))
    return TargetResult(_files(selection, program, options), tuple(diagnostics))


def select_cpp_stable(program: Program, options: StableOptions) -> Selection:
    """The operators that have typed calls."""
    return select(program, TARGETS[TARGET].policy, options.skip, any_number)


def author_cpp_stable(program: Program, options: StableOptions) -> Iterator[AuthorFunction]:
    """The kernels."""
    selection = select_cpp_stable(program, options)
    layout = library_layout(selection.functions, options)
    operators = build_operators(selection.operators, len(layout.shards))
    return author_functions(_kernels(selection, program, operators, options), layout)


def _kernels(
    selection: Selection, program: Program, operators: Sequence[CppOperator], options: StableOptions
) -> list[Kernel]:
    """The typed call takes what a kernel takes."""
    return author_kernels(
        selection.registrations(program),
        operators,
        lambda operator, entry: operator.signature,
        options.kernel_classes,
    )


def _files(selection: Selection, program: Program, options: StableOptions) -> Iterator[OutputFile]:
    layout = library_layout(selection.functions, options)
    operators = build_operators(selection.operators, len(layout.shards))
    yield from build_calls(operators, layout)
    kernels = _kernels(selection, program, operators, options)
    # With the author's header, the proof compares the unpacked arguments, so that
    # `std::vector<int64_t>` and `const std::vector<int64_t>&` are as good as a view; our own
    # prototypes have to match exactly.
    is_boxed = bool(options.kernel_headers)

    def includes(own: Sequence[Kernel]) -> Blocks:
        blocks = declaration_includes([kernel.operator for kernel in own], layout)
        return [[STABLE_LIBRARY], *blocks] if is_boxed else blocks

    if not is_boxed:
        yield from kernels_headers(layout, kernels, includes(kernels))
    yield from proof_files(layout, kernels, includes, is_boxed=is_boxed)
    yield from build_registrations(operators, kernels, layout, options)
    if options.module:
        yield module_file(layout, options.module)
