"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from torchgen_lite.analysis.lint.dispatch import unreachable_kernels
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.cpp.layout import library_layout
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.required import author_functions, author_kernels, kernel_includes
from torchgen_lite.targets.cpp.selection import any_number, check_copies, default_namespace
from torchgen_lite.targets.cpp_runtime.calls import build_calls
from torchgen_lite.targets.cpp_runtime.kernels import build_kernels, kernel_signature
from torchgen_lite.targets.cpp_runtime.methods import build_methods, methods
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout, build_operators
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


def build_cpp_runtime(program: Program, options: RuntimeOptions) -> TargetResult:
    """Every file of the library, and what the runtime does not support."""
    selection = select_cpp_runtime(program, options)
    functions, diagnostics = selection.functions, list(selection.diagnostics)
    namespace = options.namespace or default_namespace(functions)
    inner = () if options.calls_only else INNER_NAMESPACES
    diagnostics += check_names(program, TARGET, selection.operators, namespace, inner, options)
    for operator in selection.operators:
        diagnostics += check_types(operator, options.framework)
        if not options.calls_only:
            diagnostics += check_kernels(operator)
    if not options.calls_only:
        diagnostics += [*unreachable_kernels(functions), *check_copies(program, TARGET)]
    if has_errors(diagnostics):
        return TargetResult(diagnostics=tuple(diagnostics))
    registered = selection.registrations(program)
    return TargetResult(_files(selection.operators, registered, options), tuple(diagnostics))


def select_cpp_runtime(program: Program, options: RuntimeOptions) -> Selection:
    """The operators that have typed calls."""
    policy = TARGETS[TARGET].policy
    choose = select_calls if options.calls_only else select
    return choose(program, policy, options.skip, any_number)


def author_cpp_runtime(program: Program, options: RuntimeOptions) -> Iterator[AuthorFunction]:
    """The kernels."""
    selection, types = select_cpp_runtime(program, options), options.framework
    layout = _layout(selection.operators, options)
    operators = build_operators(selection.operators, len(layout.shards), types)
    signature = partial(kernel_signature, types=types)
    registered = selection.registrations(program)
    kernels = author_kernels(registered, operators, signature, options.kernel_classes)
    return author_functions(kernels, layout, layout.framework())


def _layout(selected: Sequence[Operator], options: RuntimeOptions) -> RuntimeLayout:
    place = library_layout([operator.function for operator in selected], options)
    types = options.framework
    return RuntimeLayout(
        place.root, place.folder, place.namespace, place.shards, types, options.headers
    )


def _files(
    selected: Sequence[Operator], registered: Iterable[Registration], options: RuntimeOptions
) -> Iterator[OutputFile]:
    layout, types = _layout(selected, options), options.framework
    if options.runtime == VENDORED:
        yield from copied(
            "cpp/include/torchgen_lite", f"{layout.root}/include/torchgen_lite", {".h"}
        )
    operators = build_operators(selected, len(layout.shards), types)
    members = [] if options.calls_only else methods(operators, types)
    yield from build_calls(operators, layout, has_methods=bool(members))
    if options.calls_only:
        return
    yield from build_methods(members, layout)
    signature = partial(kernel_signature, types=types)
    kernels = author_kernels(registered, operators, signature, options.kernel_classes)
    yield from build_kernels(kernels, layout, options.kernel_headers)
    declared = kernel_includes(layout, options.kernel_headers)
    yield from build_registrations(operators, kernels, layout, options.library, declared)
