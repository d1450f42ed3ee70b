"""`autograd.h`, `autograd_kernels.h` and `register_autograd.cpp`, made where any operator has something to do for autograd."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.analysis.derive.views import is_aliasing
from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    differentiable_outputs,
    match_derivatives,
)
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.dialects.cpp_formula import Functions, OwnOperator
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.schema import FunctionSchema, ListType, SchemaKind
from torchgen_lite.schema.formula import Literal, Name
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.autograd import (
    VIEWS,
    KernelView,
    autograd_kernel,
    is_composed,
    is_composite_implicit,
    out_kernel,
    passing_kernel,
    register_line,
    tensors,
    view_kernel,
    viewed,
    written,
    written_kernel,
)
from torchgen_lite.targets.cpp_torch.nodes import NodeView, Problem, node_view
from torchgen_lite.targets.output import OutputFile

_AUTOGRAD = "Autograd"
_FALLTHROUGH = "torch::CppFunction::makeFallthrough()"


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

    def add(self, operator: Operator, key: str, kernel: KernelView) -> None:
        if kernel.opening:
            self.kernels.append(kernel)
        self.registered.setdefault((operator.function.namespace, key), []).append(kernel)


@dataclass(frozen=True, slots=True)
class Differentiation:
    """The files, and what is wrong with the formulas."""

    files: tuple[OutputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def build_differentiation(
    operators: Sequence[Operator],
    layout: Layout,
    headers: Sequence[str],
    python: Collection[str] = (),
) -> Differentiation:
    """The files of autograd. `headers` are the author's, with functions that formulas call; `python` are
    functions that are there for the Python target only."""
    functions = formula_functions(operators, layout.namespace, headers, python)
    matches = match_derivatives([o.function for o in operators]).of
    files: dict[int | None, _File] = {}
    problems: list[Problem] = []
    diagnostics: list[Diagnostic] = []
    for operator in operators:
        if not tensors(operator) or is_composite_implicit(operator):
            continue
        file = files.setdefault(operator.shard, _File())
        infos = matches.get(operator.function.name)
        diagnostics += _refusals(operator, infos)
        problems += _add_autograd(file, operator, infos, functions)
        _add_views(file, operator, infos)
    written_files = [
        _file_view(file, shard, layout, headers) for shard, file in files.items() if file.registered
    ]
    seen = {id(problem.expression): problem for problem in problems}
    diagnostics += [_unsayable(problem) for problem in seen.values()]
    if not written_files:
        return Differentiation(diagnostics=tuple(diagnostics))
    context = {"namespace": layout.namespace}
    common = [
        OutputFile(layout.header(f"{stem}.h"), f"cpp_torch/{stem}.h.j2", context)
        for stem in ("autograd", "autograd_kernels")
    ]
    return Differentiation((*common, *written_files), tuple(diagnostics))


def formula_functions(
    operators: Sequence[Operator],
    namespace: str,
    headers: Sequence[str],
    python: Collection[str],
) -> Functions:
    """What formulas may call."""
    own: dict[str, list[OwnOperator]] = {}
    torch: dict[str, list[FunctionSchema]] = {}
    for operator in operators:
        schema = operator.schema
        if schema.kind() is SchemaKind.out:
            continue
        if operator.function.namespace in TORCH_NAMESPACES:
            torch.setdefault(schema.base_name, []).append(schema)
        else:
            function = operator.function
            is_function = "function" in function.variants and not function.manual_cpp_binding
            one = OwnOperator(schema, operator.flat, is_function)
            own.setdefault(schema.base_name, []).append(one)
    return Functions(namespace, own, torch, bool(headers), frozenset(python))


def _registered_by_hand(operator: Operator) -> frozenset[str]:
    return frozenset(entry.key for entry in operator.function.dispatch)


def _add_autograd(
    file: _File,
    operator: Operator,
    infos: Mapping[str, DifferentiabilityInfo] | None,
    functions: Functions,
) -> Iterator[Problem]:
    by_hand = _registered_by_hand(operator)
    is_torch = operator.function.namespace in TORCH_NAMESPACES
    if infos is None:
        if is_aliasing(operator.schema) and not is_torch and not by_hand & {_AUTOGRAD, VIEWS}:
            fallback = "torch::autograd::autogradNotImplementedFallback()"
            file.add(operator, _AUTOGRAD, _registered(operator, fallback))
        return
    for key, info in infos.items():
        name = _AUTOGRAD if key == DEFAULT else key
        if name in by_hand or (is_torch and key == DEFAULT) or _refused(operator, info):
            continue
        if not info.arguments or not differentiable_outputs(info.function.func, info):
            if is_composed(operator):
                file.add(operator, name, passing_kernel(operator, name))
            else:
                file.add(operator, name, _registered(operator, _FALLTHROUGH))
        elif operator.schema.kind() is SchemaKind.out:
            file.add(operator, name, out_kernel(operator, name, info))
        else:
            file.add(operator, name, autograd_kernel(operator, name, info))
            node = file.nodes.get(info.node_name)
            if node is None:
                file.nodes[info.node_name], problems = node_view(info, functions)
                yield from problems
            elif node.guard != operator.guard:
                # Variants under different conditions share the node, so it is always there.
                file.nodes[info.node_name] = replace(node, guard="")


def _add_views(
    file: _File, operator: Operator, infos: Mapping[str, DifferentiabilityInfo] | None
) -> None:
    if operator.function.namespace in TORCH_NAMESPACES or VIEWS in _registered_by_hand(operator):
        return
    if written(operator):
        file.add(operator, VIEWS, written_kernel(operator))
    elif is_aliasing(operator.schema):
        if infos is not None and viewed(operator) is not None:
            file.add(operator, VIEWS, view_kernel(operator))
        elif _AUTOGRAD not in _registered_by_hand(operator):
            fallback = "torch::autograd::autogradNotImplementedInplaceOrViewFallback()"
            file.add(operator, VIEWS, _registered(operator, fallback))


def _registered(operator: Operator, expression: str) -> KernelView:
    return KernelView(operator.guard, "", (), register_line(operator, expression, function=False))


def _refused(operator: Operator, info: DifferentiabilityInfo) -> str:
    """What a kernel with these formulas can't do; empty if it can be."""
    schema = operator.schema
    kind = schema.kind()
    if not info.arguments or kind is SchemaKind.out:
        return ""
    if kind is not SchemaKind.functional and written(operator) != ["self"]:
        return "writes to more than `self`"
    if kind is not SchemaKind.functional and isinstance(schema.arguments[0].type, ListType):
        return "writes to a list of tensors"
    # libtorch collects no edges of a `Tensor[]?`, as it collects no keys.
    absent = [n for n in info.arguments if n not in tensors(operator)]
    return f"has a list of tensors that may be absent, `{absent[0]}`" if absent else ""


def _refusals(
    operator: Operator, infos: Mapping[str, DifferentiabilityInfo] | None
) -> Iterator[Diagnostic]:
    function = operator.function
    place = function.place("derivatives")
    for key, info in (infos or {}).items():
        problem = _refused(operator, info)
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
    node = problem.expression
    info = problem.info
    span = getattr(node, "span", None) if node is not None else None
    span = span or info.derivatives[0].formula.span
    help_ = problem.help or "write it as C++ does, or name a header with `formula-headers`"
    if node is not None and isinstance(node, (Literal, Name)) and "keyword" in problem.message:
        help_ = "give arguments by position, or declare the operator in the schema file"
    return Diagnostic(
        "TG540",
        problem.message,
        Label(span, "not in C++") if span else None,
        help=help_,
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
    has_fallbacks = any("NotImplemented" in k.register for b in blocks for k in b.statements)
    text = "\n".join(line for node in file.nodes.values() for line in node.lines)
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "operators_header": calls,
        "calls_functions": f"::{layout.namespace}::functions::" in text,
        "has_fallbacks": has_fallbacks,
        "headers": list(headers),
        "nodes": list(file.nodes.values()),
        "kernels": file.kernels,
        "blocks": blocks,
    }
    return OutputFile(layout.source(f"{stem}.cpp"), "cpp_torch/register_autograd.cpp.j2", context)
