"""Program in, described files out.

TORCHGEN_LITE_LIBRARY_IMPL(toy, CPU, m) {
  m.impl("add.Tensor", TORCHGEN_LITE_FN(&::toy::add_cpu));
}

Note [Kernels above the backends]
A kernel for a backend, or for all of them, takes the arguments of the schema. One for a key above
them (`Autograd`, `ADInplaceOrView`, a mode) does its work and redispatches below its key, so it
takes the keys of the call as its first argument:

    toy::Tensor mul_autograd(torchgen_lite::DispatchKeySet keys, const toy::Tensor& self, ...) {
      auto result = ops::mul::redispatch(keys & torchgen_lite::after_autograd_keyset, self, ...);
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from torchgen_lite.analysis.checks.reachable import unreachable_kernels
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.reserved import RUNTIME
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.signature import CppSignature, signature_headers, signatures_of
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.loader.entry.guards import read_guard
from torchgen_lite.targets.cpp import registrations, required
from torchgen_lite.targets.cpp.choices import (
    NUMBERS,
    called_by_name,
    check_conditions,
    choice_headers,
    kernel_registrations,
)
from torchgen_lite.targets.cpp.layout import (
    Blocks,
    Layout,
    include_blocks,
    library_layout,
)
from torchgen_lite.targets.cpp.model import CppOperator, build_operators
from torchgen_lite.targets.cpp.names import check_names
from torchgen_lite.targets.cpp.proof import FUNCTIONS, Relation, proof_files
from torchgen_lite.targets.cpp.selection import any_number, check_copies, check_structured
from torchgen_lite.targets.cpp_runtime.calls import build_calls, build_methods, methods
from torchgen_lite.targets.cpp_runtime.options import TARGET, VENDORED, RuntimeOptions, roots
from torchgen_lite.targets.left_out import IN_PYTORCH, check_brought, select
from torchgen_lite.targets.output import (
    AuthorFunction,
    Context,
    Files,
    Findings,
    Header,
    Selection,
    TargetResult,
    copied,
)


def build_cpp_runtime(program: Program, options: RuntimeOptions) -> TargetResult:
    """Every file of the library, and what the runtime does not support."""
    selection = select_cpp_runtime(program, options)
    diagnostics = list(selection.diagnostics)
    inner = frozenset[str]()
    if not options.calls_only:
        inner = RUNTIME.namespaces
    diagnostics += check_names(program, TARGET, selection.operators, inner, options)
    for operator in selection.operators:
        diagnostics += check_types(operator, options.framework)
        if not options.calls_only:
            diagnostics += check_kernels(operator)
    if not options.calls_only:
        diagnostics += [*unreachable_kernels(selection.functions), *check_copies(program, TARGET)]
        diagnostics += check_brought(program, TARGET, selection.operators, IN_PYTORCH)
        layout = library_layout(selection.functions, options)
        diagnostics += check_conditions(selection.functions, options.asked(layout.namespace))
    return TargetResult(_files(selection, program, options), diagnostics)


def select_cpp_runtime(program: Program, options: RuntimeOptions) -> Selection:
    """The operators that have typed calls."""
    return select(program, TARGET, options.skip, any_number, calls_only=options.calls_only)


def author_cpp_runtime(program: Program, options: RuntimeOptions) -> Iterator[AuthorFunction]:
    selection = select_cpp_runtime(program, options)
    typed: list[Operator] = []
    typeless: list[Operator] = []
    for operator in selection.operators:
        lacks = any(check_types(operator, options.framework))
        (typeless if lacks else typed).append(operator)
    layout, _, kernels = _library(selection._replace(operators=typed), program, options)
    functions = required.author_functions(kernels, layout, options.framework_headers)
    return chain(functions, required.undeclared_functions(typeless, layout))


def _library(
    selection: Selection, program: Program, options: RuntimeOptions
) -> tuple[Layout, Sequence[CppOperator], list[required.Kernel]]:
    """Where files go, the operators, and the kernels.

    There is no libtorch here, so `torch:`, which asks for one of its releases, is ignored.
    """
    types = options.framework
    layout = library_layout(selection.functions, options)
    operators = build_operators(
        selection.operators,
        layout.shards,
        lambda operator: runtime.signature(operator.schema, types),
        lambda function: read_guard(function.guard or "") or "",
        RUNTIME.spelled | roots(types),
    )
    registered = selection.registrations(program)
    signature = partial(_signature, types=types)
    kernels = required.author_kernels(registered, operators, signature, options, layout)
    return layout, operators, kernels


def _files(selection: Selection, program: Program, options: RuntimeOptions) -> Files:
    layout, operators, kernels = _library(selection, program, options)
    if options.runtime == VENDORED:
        yield from copied(
            "cpp/include/torchgen_lite", f"{layout.root}/include/torchgen_lite", {".h"}
        )
    members = []
    if not options.calls_only:
        members = methods(operators, options.framework)
    yield from build_calls(operators, layout, options, has_methods=bool(members))
    if options.calls_only:
        return
    yield from build_methods(members, layout)
    yield from build_kernels(kernels, layout, options)
    yield from choice_headers(layout, kernels)
    yield from build_registrations(operators, kernels, layout, options)


_ABOVE = CURRENT.functionalities[CURRENT.functionalities.index("BackendSelect") + 1 :]
_PREFIXES = [prefix for name, prefix in CURRENT.per_backend if name in _ABOVE]
# The keys whose kernels take the keys of the call.
ABOVE_BACKENDS = frozenset(
    [*_ABOVE, *_PREFIXES, *[prefix + b for prefix in _PREFIXES for b in CURRENT.backends]]
)


def _signature(operator: CppOperator, entry: DispatchEntry, types: Types) -> CppSignature:
    """The signature of the typed call, preceded by the keys of the call if the kernel is above the backends."""
    if entry.key not in ABOVE_BACKENDS:
        return operator.signature
    return runtime.signature(operator.schema, types, keyset=True)


def build_kernels(
    kernels: Sequence[required.Kernel], layout: Layout, options: RuntimeOptions
) -> Files:
    """Prototypes and proof; no prototypes if the author's headers declare the kernels."""

    def includes(proven: Sequence[required.Kernel]) -> Blocks:
        headers = signature_headers(signatures_of(proven))
        return [*include_blocks(headers), *options.framework_headers]

    relation = Relation()
    if options.kernel_headers:
        relation = Relation(
            "meant",
            "meant",
            by_name=called_by_name(kernels),
            folder="cpp_runtime",
            copied=(FUNCTIONS, "kernel_types.h"),
        )
    declares = not options.kernel_headers
    yield from proof_files(layout, kernels, includes, relation, declares=declares)


_LIBRARY = [Header("torchgen_lite/library.h")]


def build_registrations(
    operators: Sequence[CppOperator],
    kernels: Sequence[required.Kernel],
    layout: Layout,
    options: RuntimeOptions,
) -> Files:
    """The definitions of the operators, and the registrations of the kernels."""

    def type_of(kernel: required.Kernel) -> str:
        call = "call"
        if kernel.key in ABOVE_BACKENDS:
            call = "redispatch"
        return f"decltype(::{layout.namespace}::ops::{kernel.operator.flat}::{call})*"

    asked = options.asked(layout.namespace)
    registered, declared = kernel_registrations(
        kernels,
        layout,
        options.kernel_headers,
        "TORCHGEN_LITE_FN",
        type_of,
        asked,
        NUMBERS,
        lambda kernel: f", {kernel.signature.type}",
    )

    def context(_: object, calls: Sequence[object]) -> Context:
        includes: list[Sequence[Header]] = [_LIBRARY]
        if calls:
            includes += declared
        return {"includes": includes, "python_module": ""}

    yield from registrations.registration_files(
        registrations.definitions(operators, cpp_text.quote),
        registered,
        layout,
        options,
        "TORCHGEN_LITE_LIBRARY",
        "cpp/register.cpp.j2",
        context,
    )


def check_types(operator: Operator, types: Types) -> Findings:
    """TG560 for schema types that the options map to no C++ type."""
    schema = operator.schema
    arguments = [(a.type, f"argument `{a.name}`", a.type_span) for a in schema.arguments]
    returns = [(r.type, "result", r.span) for r in schema.returns]
    for type_, what, span in (*arguments, *returns):
        part = runtime.missing(type_, types)
        if part is not None:
            message = f"there is no C++ type for `{part}`"
            label = f"the type of {what}"
            hint = f"name one under `types` of target `{TARGET}`, or `skip` `{schema.full_name}`"
            yield finding(operator.function, "TG560", message, span, label, hint)


def check_kernels(operator: Operator) -> Findings:
    """TG561 for structured kernels, and TG562 for formulas if there is no handwritten autograd
    kernel."""
    function = operator.function
    yield from check_structured(operator, "TG561", f"target `{TARGET}` has no structured kernels")
    keys = ABOVE_BACKENDS & operator.keys
    is_written = any(key.startswith("Autograd") for key in keys)
    if function.derivatives is not None and not operator.is_composed and not is_written:
        message = f"target `{TARGET}` generates no kernels from `derivatives`"
        hint = "write one, and add it to `dispatch` under `Autograd`"
        place = function.place("derivatives")
        yield finding(function, "TG562", message, place, "not used", hint)
