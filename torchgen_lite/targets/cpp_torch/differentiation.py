"""`autograd.h`, `autograd_kernels.h` and `register_autograd.cpp`, made where autograd handles any operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.policy import AUTOGRAD_KERNELS, UNKNOWN_VIEWS, Origin, Policy
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, Label, did_you_mean
from torchgen_lite.languages.cpp.formula import Functions
from torchgen_lite.languages.cpp.formula_needs import (
    called_headers,
    unknown_functions,
    wrong_counts,
)
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.loader.torch_functions import functions_of_torch
from torchgen_lite.targets.cpp.layout import Layout, copied_headers, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import ImplCall, blocks
from torchgen_lite.targets.cpp_torch.autograd import (
    AutogradKernel,
    autograd_kernel,
    out_kernel,
    passing_kernel,
    view_kernel,
    written_kernel,
)
from torchgen_lite.targets.cpp_torch.model import TorchLayout
from torchgen_lite.targets.cpp_torch.nodes import (
    NodeView,
    calls_functions,
    node_view,
    unsayable_parts,
)
from torchgen_lite.targets.cpp_torch.types import Classes
from torchgen_lite.targets.output import OutputFile, TargetResult

_AUTOGRAD = "Autograd"
# What is registered for operators without a generated kernel.
_BOXED = {
    Origin.fallthrough: "torch::CppFunction::makeFallthrough()",
    Origin.not_implemented: "torch::autograd::autogradNotImplementedFallback()",
    Origin.unknown_view: "torch::autograd::autogradNotImplementedInplaceOrViewFallback()",
}


class _Planned(NamedTuple):
    """A registration that autograd asks for."""

    operator: CppOperator
    registered: Registration
    plan: AutogradPlan

    @property
    def info(self) -> DifferentiabilityInfo | None:
        key = self.registered.key
        return self.plan.infos.get(DEFAULT if key == _AUTOGRAD else key)

    @property
    def recorded(self) -> DifferentiabilityInfo | None:
        """The formulas of the node that its kernel makes."""
        return self.info if self.registered.origin is Origin.autograd else None


@dataclass(slots=True)
class _File:
    """The contents of one file, while it is put together."""

    nodes: dict[str, NodeView] = field(default_factory=dict)
    kernels: list[AutogradKernel] = field(default_factory=list)
    registered: list[ImplCall] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    calls_functions: bool = False
    has_fallbacks: bool = False

    def add(self, operator: CppOperator, one: Registration, kernel: AutogradKernel | None) -> None:
        """Add a registration, of this kernel or of libtorch's for all operators."""
        if kernel is not None:
            self.kernels.append(kernel)
        self.has_fallbacks = self.has_fallbacks or one.origin in UNKNOWN_VIEWS
        expression = f"TORCH_FN({kernel.name})" if kernel else _BOXED[one.origin]
        self.registered.append(ImplCall(operator, one.key, expression, operator.guard))

    def add_node(
        self,
        operator: CppOperator,
        info: DifferentiabilityInfo,
        functions: Functions,
        classes: Classes,
    ) -> None:
        node = self.nodes.get(info.node_name)
        if node is None:
            self.nodes[info.node_name] = node_view(info, functions, classes)
            for derivative in info.derivatives:
                self.called.update(called_headers(derivative.tree, functions))
            self.calls_functions = self.calls_functions or calls_functions(info)
        elif node.guard != operator.guard:
            # Variants under different conditions share the node, so it is always there.
            self.nodes[info.node_name] = node._replace(guard="")


def build_differentiation(
    resolved: Resolved,
    operators: Sequence[CppOperator],
    registered: Iterable[Registration],
    policy: Policy,
    layout: TorchLayout,
    headers: Sequence[str],
    python: Collection[str] = (),
) -> TargetResult:
    """The files of autograd. `headers` are the author's, with functions that formulas call; `python` are
    functions that exist for the Python target only."""
    structs = {o.function.name: o.flat for o in operators}
    functions = Functions(layout.namespace, structs, bool(headers), frozenset(python))
    by_name = {operator.function.name: operator for operator in operators}
    planned = [
        _Planned(by_name[one.operator.name], one, resolved.autograd[one.operator.name])
        for one in registered
        if one.origin in AUTOGRAD_KERNELS | UNKNOWN_VIEWS
    ]
    diagnostics = [
        d for o in operators for d in _refusals(o, resolved.autograd[o.function.name], policy)
    ]
    recorded = {id(one.recorded): one.recorded for one in planned if one.recorded is not None}
    diagnostics += dict.fromkeys(
        found for info in recorded.values() for found in unsayable_parts(info, functions)
    )
    for info in recorded.values():
        diagnostics += _unknown_functions(info, functions)
        diagnostics += _wrong_counts(info, functions)
    return TargetResult(_files(planned, functions, layout, headers), tuple(diagnostics))


def _files(
    planned: Sequence[_Planned], functions: Functions, layout: TorchLayout, headers: Sequence[str]
) -> Iterator[OutputFile]:
    if not planned:
        return
    yield from copied_headers(layout, "cpp_torch", "autograd.h", "autograd_kernels.h")
    files: dict[int | None, _File] = {}
    for one in planned:
        file = files.setdefault(one.operator.shard, _File())
        file.add(one.operator, one.registered, _kernel(one))
        if one.recorded is not None:
            file.add_node(one.operator, one.recorded, functions, layout.classes)
    for shard, file in files.items():
        yield _file_view(file, shard, layout, headers)


def _kernel(
    planned: _Planned,
) -> AutogradKernel | None:
    """The kernel that is written for the operator; None where libtorch has one for all."""
    operator, one, plan = planned
    if one.origin in _BOXED:
        return None
    if one.origin is Origin.raises_versions:
        return written_kernel(operator, plan)
    if one.origin is Origin.view and plan.viewed is not None:
        return view_kernel(operator, plan.viewed)
    info = planned.info
    if one.origin is Origin.passes or info is None:
        return passing_kernel(operator, one.key, plan)
    if one.origin is Origin.refuses_out:
        return out_kernel(operator, one.key, plan, info)
    return autograd_kernel(operator, one.key, plan, info)


def _refusals(operator: CppOperator, plan: AutogradPlan, policy: Policy) -> Iterator[Diagnostic]:
    function = operator.function
    place = function.place("derivatives")
    for key in plan.categories:
        info = plan.infos.get(key)
        problem = info and policy.refuses(operator.facts, plan, info)
        if problem:
            message = f"`{function.name}` {problem}"
            label = "no kernel is generated from its formulas"
        elif function.namespace in TORCH_NAMESPACES and key == DEFAULT and function.derivatives:
            message = f"PyTorch has the formulas of `{function.name}` itself"
            label = "not used: formulas for one backend go under `dispatch:`"
        else:
            continue
        span = place or function.func.name_span or function.span
        yield Diagnostic(
            "TG541",
            message,
            Label(span, label) if span else None,
            operator=function.name,
        )


def _unknown_functions(info: DifferentiabilityInfo, functions: Functions) -> Iterator[Diagnostic]:
    own = {name.partition("::")[2].partition(".")[0] for name in functions.structs}
    for derivative in info.derivatives:
        for node, name in unknown_functions(derivative.tree, functions):
            is_python = name in functions_of_torch().torch
            where = (
                "PyTorch has only in Python" if is_python else "neither the file nor PyTorch has"
            )
            message = f"the formula calls `{name}`, which {where}"
            hint = did_you_mean(name, own) or (
                "" if is_python else did_you_mean(name, functions_of_torch().at)
            )
            hint = hint or "name a header that declares it with `formula-headers`"
            label = f"assumed to be `at::{name}`"
            yield finding(info.function, "TG341", message, node.span, label, hint)


def _wrong_counts(info: DifferentiabilityInfo, functions: Functions) -> Iterator[Diagnostic]:
    for derivative in info.derivatives:
        for call, message in wrong_counts(derivative.tree, functions):
            kinds = [part.kind for part in call.parts[-2:]]
            is_spread = len(kinds) == 2 and all(kind.is_number for kind in kinds)
            hint = "a list is one argument: `[...]`" if is_spread else None
            yield finding(info.function, "TG323", message, call.node.span, "in this call", hint)


def _file_view(
    file: _File, shard: int | None, layout: Layout, headers: Sequence[str]
) -> OutputFile:
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "operators_header": stem("operators", shard),
        "calls_functions": file.calls_functions,
        "has_fallbacks": file.has_fallbacks,
        "called": sorted(file.called),
        "headers": list(headers),
        "nodes": list(file.nodes.values()),
        "kernels": file.kernels,
        "blocks": blocks(file.registered),
    }
    path = layout.source(f"{stem('register_autograd', shard)}.cpp")
    return OutputFile(path, "cpp_torch/register_autograd.cpp.j2", context)
