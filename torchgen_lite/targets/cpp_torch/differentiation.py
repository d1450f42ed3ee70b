"""`register_autograd.cpp` and the headers that it shares with others, made where autograd handles any operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import AUTOGRAD_KERNELS, UNKNOWN_VIEWS, Origin, Policy
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.cpp import formula_needs
from torchgen_lite.languages.cpp.formula import Functions
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.targets.cpp.layout import copied_files, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import ImplCall, blocks
from torchgen_lite.targets.cpp_torch import references
from torchgen_lite.targets.cpp_torch.autograd import autograd_kernel, shared_kernel
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.nodes import calls_functions, node_view, unsayable_parts
from torchgen_lite.targets.cpp_torch.types import Classes
from torchgen_lite.targets.output import Files, Findings, OutputFile, TargetResult

_AUTOGRAD = "Autograd"
# What is registered for operators without a generated kernel.
_BOXED = {
    Origin.fallthrough: "torch::CppFunction::makeFallthrough()",
    # By this text, packages in Python that have the derivative know that they may replace it.
    Origin.not_implemented: 'torch::autograd::autogradNotImplementedFallback().debug("refuses derivatives")',
    Origin.unknown_view: "torch::autograd::autogradNotImplementedInplaceOrViewFallback()",
}


class _Planned(NamedTuple):
    """A registration that autograd asks for, with the formulas for its key."""

    operator: CppOperator
    registered: Registration
    plan: AutogradPlan
    info: DifferentiabilityInfo | None


def build_differentiation(library: Library, python: Collection[str] = ()) -> TargetResult:
    """The files of autograd; `python` are functions that exist for the Python target only."""
    operators = [operator for operator in library.every if not operator.facts.is_derived]
    structs = {operator.function.name: operator.flat for operator in operators}
    has_headers = bool(library.options.formula_headers)
    functions = Functions(library.layout.namespace, structs, has_headers, frozenset(python))
    diagnostics: list[Diagnostic] = []
    for operator in operators:
        diagnostics += _refusals(operator, library.selection.policy)
    planned: list[_Planned] = []
    for registration in library.registered:
        if registration.origin in AUTOGRAD_KERNELS | UNKNOWN_VIEWS:
            plan = registration.operator.others.autograd[registration.operator.name]
            info = plan.infos.get(DEFAULT if registration.key == _AUTOGRAD else registration.key)
            planned.append(
                _Planned(library.by_facts[registration.operator], registration, plan, info)
            )
            if info is not None and registration.origin is Origin.autograd:
                diagnostics += unsayable_parts(info, functions)
    # Operators may share formulas, of which everything is said once.
    return TargetResult(_files(library, planned, functions), list(dict.fromkeys(diagnostics)))


def _files(library: Library, planned: Sequence[_Planned], functions: Functions) -> Files:
    layout = library.layout
    shared: set[str] = set()
    for shard, of_shard in grouped(planned, lambda plan: plan.operator.shard).items():
        context = _context(of_shard, functions, layout.classes)
        names = ["autograd_kernels.h"]
        if any(node.reference for node in context["nodes"]):
            names.append("autograd_reference.h")
        if any(kernel.tangents for kernel in context["kernels"]):
            names.append("autograd_tangents.h")
        if any(plan.registered.origin is Origin.view for plan in of_shard):
            names.append("autograd_views.h")
        shared.update(names)
        context |= {
            "namespace": layout.namespace,
            "folder": layout.folder,
            "shared": [*names, f"{stem('operators', shard)}.h"],
            "macro": layout.opening("TORCH_LIBRARY_IMPL"),
            "headers": list(library.options.formula_headers),
        }
        path = layout.source(f"{stem('register_autograd', shard)}.cpp")
        yield OutputFile(path, "cpp_torch/register_autograd.cpp.j2", context)
    yield from copied_files(layout, "cpp_torch", *sorted(shared))


def _context(planned: Sequence[_Planned], functions: Functions, classes: Classes) -> dict[str, Any]:
    """What one file contains."""
    kernels = []
    calls = []
    nodes: dict[tuple[str, str | None], tuple[DifferentiabilityInfo, list[CppOperator]]] = {}
    for operator, registered, plan, info in planned:
        expression = _BOXED.get(registered.origin)
        if expression is None:
            kernel = shared_kernel(operator, registered, plan, info)
            if not kernel and info is not None:
                kernels.append(autograd_kernel(operator, registered.key, info, functions))
                kernel = kernels[-1].name
            # A macro takes what is in brackets for one argument.
            expression = f"TORCH_FN(({kernel}))" if "," in kernel else f"TORCH_FN({kernel})"
        calls.append(ImplCall(operator, registered.key, expression, operator.guard))
        if info is not None and registered.origin is Origin.autograd:
            # Entries for different releases have a node each.
            place = info.node_name, info.function.torch
            nodes.setdefault(place, (info, []))[1].append(operator)
    called: set[str] = set()
    views = []
    has_calls = False
    for info, operators in nodes.values():
        has_calls |= calls_functions(info)
        view = node_view(info, functions, classes)
        if info.function.is_auto:
            view = references.with_reference(view, info, operators[0].facts)
            called |= references.reference_headers(operators[0].facts)
        else:
            for tree in info.trees:
                called.update(formula_needs.called_headers(tree, functions))
        # If operators with different conditions have it, it is always there.
        is_shared = any(operator.guard != view.guard for operator in operators[1:])
        views.append(view._replace(guard="") if is_shared else view)
    return {
        "calls_functions": has_calls,
        "has_fallbacks": any(plan.registered.origin in UNKNOWN_VIEWS for plan in planned),
        "called": sorted(called),
        "nodes": views,
        "kernels": kernels,
        "blocks": blocks(calls),
    }


def _refusals(operator: CppOperator, policy: Policy) -> Findings:
    function = operator.function
    plan = operator.facts.others.autograd.get(function.name)
    if plan is None or function.name in policy.elsewhere:
        return
    for key in plan.origins:
        info = plan.infos.get(key)
        problem = info and policy.refuses(operator.facts, plan, info)
        if problem:
            message = f"`{function.name}` {problem}"
            label = "no kernel is generated from its formulas"
        elif function.is_pytorchs and key == DEFAULT and function.derivatives:
            message = f"PyTorch has the formulas of `{function.name}` itself"
            label = "not used: formulas for one backend go under `dispatch:`"
        else:
            continue
        yield finding(function, "TG541", message, function.place("derivatives"), label)
