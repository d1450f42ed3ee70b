"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from torchgen_lite.analysis.lint.dispatch import unreachable_kernels
from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.cpp import runtime
from torchgen_lite.loader.guards import read_guard
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.cpp.layout import Layout, library_layout
from torchgen_lite.targets.cpp.model import CppOperator, build_operators
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.required import Kernel, author_functions, author_kernels
from torchgen_lite.targets.cpp.selection import any_number, check_copies
from torchgen_lite.targets.cpp_runtime.calls import build_calls
from torchgen_lite.targets.cpp_runtime.framework import roots
from torchgen_lite.targets.cpp_runtime.kernels import build_kernels, kernel_signature
from torchgen_lite.targets.cpp_runtime.methods import build_methods, methods
from torchgen_lite.targets.cpp_runtime.options import TARGET, VENDORED, RuntimeOptions
from torchgen_lite.targets.cpp_runtime.registrations import build_registrations
from torchgen_lite.targets.cpp_runtime.unsupported import check_kernels, check_types
from torchgen_lite.targets.output import (
    AuthorFunction,
    OutputFile,
    Selection,
    TargetResult,
    copied,
)
from torchgen_lite.targets.skipped import select, select_calls

# Names that the namespace of a library has.
INNER_NAMESPACES = frozenset({"functions", "ops", "proof"})
# What the definitions of typed calls spell.
_SPELLED = frozenset({"std", "torchgen_lite", "int64_t", "ops"})


def build_cpp_runtime(program: Program, options: RuntimeOptions) -> TargetResult:
    """Every file of the library, and what the runtime does not support."""
    selection = select_cpp_runtime(program, options)
    functions, diagnostics = selection.functions, list(selection.diagnostics)
    inner = () if options.calls_only else INNER_NAMESPACES
    diagnostics += check_names(program, TARGET, selection.operators, inner, options)
    for operator in selection.operators:
        diagnostics += check_types(operator, options.framework)
        if not options.calls_only:
            diagnostics += check_kernels(operator)
    if not options.calls_only:
        diagnostics += [*unreachable_kernels(functions), *check_copies(program, TARGET)]
    return TargetResult(_files(selection, program, options), tuple(diagnostics))


def select_cpp_runtime(program: Program, options: RuntimeOptions) -> Selection:
    """The operators that have typed calls."""
    policy = TARGETS[TARGET].policy
    choose = select_calls if options.calls_only else select
    return choose(program, policy, options.skip, any_number)


def author_cpp_runtime(program: Program, options: RuntimeOptions) -> Iterator[AuthorFunction]:
    """The kernels."""
    layout, _, kernels = _library(select_cpp_runtime(program, options), program, options)
    return author_functions(kernels, layout, options.framework_headers)


def _library(
    selection: Selection, program: Program, options: RuntimeOptions
) -> tuple[Layout, Sequence[CppOperator], list[Kernel]]:
    """Where files go, the operators, and the kernels.

    There is no libtorch here, so `torch:`, which asks for one of its releases, is ignored.
    """
    types = options.framework
    layout = library_layout(selection.functions, options)
    operators = build_operators(
        selection.operators,
        len(layout.shards),
        lambda one: runtime.signature(one.schema, one.schema.base_name, types),
        lambda function: read_guard(function.guard or "") or "",
        _SPELLED | roots(types),
    )
    signature, registered = partial(kernel_signature, types=types), selection.registrations(program)
    return (
        layout,
        operators,
        author_kernels(registered, operators, signature, options.kernel_classes),
    )


def _files(selection: Selection, program: Program, options: RuntimeOptions) -> Iterator[OutputFile]:
    layout, operators, kernels = _library(selection, program, options)
    if options.runtime == VENDORED:
        yield from copied(
            "cpp/include/torchgen_lite", f"{layout.root}/include/torchgen_lite", {".h"}
        )
    members = [] if options.calls_only else methods(operators, options.framework)
    yield from build_calls(operators, layout, options, has_methods=bool(members))
    if options.calls_only:
        return
    yield from build_methods(members, layout)
    yield from build_kernels(kernels, layout, options)
    yield from build_registrations(operators, kernels, layout, options)
