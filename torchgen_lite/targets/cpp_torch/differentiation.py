"""`autograd.h`, `autograd_kernels.h` and `register_autograd.cpp`, made where any operator has something to do for autograd."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.analysis.differentiability import (
    AutogradPlan,
    Category,
    DifferentiabilityInfo,
    Tracking,
)
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.dialects.cpp_formula import Functions
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.autograd import (
    VIEWS,
    KernelView,
    autograd_kernel,
    out_kernel,
    passing_kernel,
    register_line,
    view_kernel,
    written_kernel,
)
from torchgen_lite.targets.cpp_torch.nodes import (
    NodeView,
    Problem,
    calls_functions,
    node_view,
    problems_of,
)
from torchgen_lite.targets.output import OutputFile

_AUTOGRAD = "Autograd"
_FALLTHROUGH = "torch::CppFunction::makeFallthrough()"
_NOT_IMPLEMENTED = "torch::autograd::autogradNotImplementedFallback()"
_UNKNOWN_VIEW = "torch::autograd::autogradNotImplementedInplaceOrViewFallback()"


@dataclass(frozen=True, slots=True)
class BlockView:
    """The registrations of one namespace under one key."""

    opening: str
    statements: tuple[KernelView, ...]


@dataclass(slots=True)
class _File:
    """What one file has, as it is put together."""

    nodes: dict[str, NodeView] = field(default_factory=dict)
    kernels: list[KernelView] = field(default_factory=list)
    registered: dict[tuple[str, str], list[KernelView]] = field(default_factory=dict)
    calls_functions: bool = False
    has_fallbacks: bool = False

    def add(self, operator: Operator, key: str, kernel: KernelView) -> None:
        if kernel.opening:
            self.kernels.append(kernel)
        self.registered.setdefault((operator.function.namespace, key), []).append(kernel)

    def add_expression(self, operator: Operator, key: str, expression: str) -> None:
        line = register_line(operator, expression, function=False)
        self.add(operator, key, KernelView(operator.guard, "", (), line))

    def add_fallback(self, operator: Operator, key: str, expression: str) -> None:
        self.has_fallbacks = True
        self.add_expression(operator, key, expression)

    def add_node(
        self, operator: Operator, info: DifferentiabilityInfo, functions: Functions
    ) -> None:
        node = self.nodes.get(info.node_name)
        if node is None:
            self.nodes[info.node_name] = node_view(info, functions)
            self.calls_functions = self.calls_functions or calls_functions(info)
        elif node.guard != operator.guard:
            # Variants under different conditions share the node, so it is always there.
            self.nodes[info.node_name] = replace(node, guard="")


@dataclass(frozen=True, slots=True)
class Differentiation:
    """The files, and what is wrong with the formulas."""

    files: tuple[OutputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def build_differentiation(
    resolved: Resolved,
    operators: Sequence[Operator],
    layout: Layout,
    headers: Sequence[str],
    python: Collection[str] = (),
) -> Differentiation:
    """The files of autograd. `headers` are the author's, with functions that formulas call; `python` are
    functions that are there for the Python target only."""
    structs = {o.function.name: o.flat for o in operators}
    functions = Functions(layout.namespace, structs, bool(headers), frozenset(python))
    plans = resolved.autograd
    files: dict[int | None, _File] = {}
    diagnostics: list[Diagnostic] = []
    recorded: dict[int, DifferentiabilityInfo] = {}
    for operator in operators:
        plan = plans[operator.function.name]
        if not plan.categories and plan.tracking is Tracking.nothing:
            continue
        file = files.setdefault(operator.shard, _File())
        diagnostics += _refusals(operator, plan)
        for info in _add_autograd(file, operator, plan, functions):
            recorded[id(info)] = info
        _add_views(file, operator, plan)
    problems = [p for info in recorded.values() for p in problems_of(info, functions)]
    diagnostics += dict.fromkeys(_unsayable(problem) for problem in problems)
    written_files = [
        _file_view(file, shard, layout, headers) for shard, file in files.items() if file.registered
    ]
    if not written_files:
        return Differentiation(diagnostics=tuple(diagnostics))
    context = {"namespace": layout.namespace}
    common = [
        OutputFile(layout.header(f"{stem}.h"), f"cpp_torch/{stem}.h.j2", context)
        for stem in ("autograd", "autograd_kernels")
    ]
    return Differentiation((*common, *written_files), tuple(diagnostics))


def _registered_by_hand(operator: Operator) -> frozenset[str]:
    return frozenset(entry.key for entry in operator.function.dispatch)


def _add_autograd(
    file: _File, operator: Operator, plan: AutogradPlan, functions: Functions
) -> Iterator[DifferentiabilityInfo]:
    """The kernels of one operator; what comes back are formulas that a kernel uses."""
    by_hand = _registered_by_hand(operator)
    is_torch = operator.function.namespace in TORCH_NAMESPACES
    for key, category in plan.categories.items():
        name = _AUTOGRAD if key == DEFAULT else key
        if name in by_hand or (is_torch and key == DEFAULT):
            continue
        if category is Category.not_implemented:
            if VIEWS not in by_hand:
                file.add_fallback(operator, name, _NOT_IMPLEMENTED)
            continue
        info = plan.infos[key]
        if _refused(operator, plan, info):
            continue
        if category is Category.fall_through:
            file.add_expression(operator, name, _FALLTHROUGH)
        elif category is Category.pass_through:
            file.add(operator, name, passing_kernel(operator, name, plan))
        elif category is Category.refuse_out:
            file.add(operator, name, out_kernel(operator, name, plan, info))
        else:
            file.add(operator, name, autograd_kernel(operator, name, plan, info))
            file.add_node(operator, info, functions)
            yield info


def _add_views(file: _File, operator: Operator, plan: AutogradPlan) -> None:
    by_hand = _registered_by_hand(operator)
    if operator.function.namespace in TORCH_NAMESPACES or VIEWS in by_hand:
        return
    if plan.tracking is Tracking.raise_versions:
        file.add(operator, VIEWS, written_kernel(operator, plan))
    elif plan.tracking is Tracking.nothing:
        return
    elif plan.tracking is not Tracking.unknown_view and plan.viewed is not None:
        file.add(operator, VIEWS, view_kernel(operator, plan.viewed))
    elif _AUTOGRAD not in by_hand:
        file.add_fallback(operator, VIEWS, _UNKNOWN_VIEW)


def _refused(operator: Operator, plan: AutogradPlan, info: DifferentiabilityInfo) -> str:
    """What a kernel with these formulas can't do; empty if it can be."""
    kind = operator.schema.kind()
    if not info.slots or kind is SchemaKind.out:
        return ""
    if kind is not SchemaKind.functional and plan.written != ("self",):
        return "writes to more than `self`"
    if kind is not SchemaKind.functional and plan.tensors[0].is_list:
        return "writes to a list of tensors"
    # libtorch collects no edges of a `Tensor[]?`, as it collects no keys.
    known = {tensor.name for tensor in plan.tensors}
    absent = [name for name in info.arguments if name not in known]
    return f"has a list of tensors that may be absent, `{absent[0]}`" if absent else ""


def _refusals(operator: Operator, plan: AutogradPlan) -> Iterator[Diagnostic]:
    function = operator.function
    place = function.place("derivatives")
    for key in plan.categories:
        info = plan.infos.get(key)
        problem = info and _refused(operator, plan, info)
        if problem:
            message = f"`{function.name}` {problem}"
            label = "no kernel is made for its formulas"
        elif function.namespace in TORCH_NAMESPACES and key == DEFAULT and function.derivatives:
            message = f"PyTorch has the formulas of `{function.name}` itself"
            label = "not used: formulas for one backend stand under `dispatch:`"
        else:
            continue
        span = place or function.func.name_span or function.span
        yield Diagnostic(
            "TG541",
            message,
            Label(span, label) if span else None,
            operator=function.name,
        )


def _unsayable(problem: Problem) -> Diagnostic:
    info = problem.info
    span = problem.span or info.derivatives[0].formula.span
    return Diagnostic(
        "TG540",
        problem.message,
        Label(span, "not in C++") if span else None,
        help=problem.help or "write it as C++ does, or name a header with `formula-headers`",
        operator=info.function.name,
        context=info.function.place("func"),
    )


def _file_view(
    file: _File, shard: int | None, layout: Layout, headers: Sequence[str]
) -> OutputFile:
    stem = "register_autograd" if shard is None else f"register_autograd_{shard}"
    calls = "operators" if shard is None else f"operators_{shard}"
    blocks = [
        BlockView(f"TORCH_LIBRARY_IMPL({namespace}, {key}, m) {{", tuple(kernels))
        for (namespace, key), kernels in file.registered.items()
    ]
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "operators_header": calls,
        "calls_functions": file.calls_functions,
        "has_fallbacks": file.has_fallbacks,
        "headers": list(headers),
        "nodes": list(file.nodes.values()),
        "kernels": file.kernels,
        "blocks": blocks,
    }
    return OutputFile(layout.source(f"{stem}.cpp"), "cpp_torch/register_autograd.cpp.j2", context)
