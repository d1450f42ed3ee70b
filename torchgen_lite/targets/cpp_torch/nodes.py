"""The nodes of `register_autograd.cpp`: what each keeps, and its formulas as the body of `apply`.

struct MulBackward0 : public torch::autograd::Node {
  torch::autograd::variable_list apply(variable_list&& grads) override {
    std::lock_guard<std::mutex> _lock(mutex_);
    const auto self = autograd::unpack(saved_self);
    const auto& grad = grads[0];
    at::Tensor grad_other_;
    if (task_should_compute_output(1)) {
      grad_other_ = grad * self;
    }
    return autograd::gather(*this, grad_self_, grad_other_);
  }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from torchgen_lite.analysis.differentiability import (
    Derivative,
    DifferentiabilityInfo,
    differentiable_outputs,
    return_names,
)
from torchgen_lite.analysis.differentiability.saved import fact_of
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp_formula import Functions, Writer, statements
from torchgen_lite.schema import FunctionSchema, ListType
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.formula import Call, Expression, ListDisplay, Member, Name, walk
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp_torch.saved import LIST_KINDS, Saved, saved_members, scope_kinds

_INDENT = 4


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node: its name, the operator it stands for, its members, those that hold tensors, `apply`.

    `guard` is an `#if`, or empty; `opening` opens the class.
    """

    guard: str
    name: str
    opening: str
    operator: str
    members: tuple[str, ...]
    resets: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a formula that C++ has no words for."""

    info: DifferentiabilityInfo
    expression: Expression | None
    message: str
    help: str = ""


def node_view(info: DifferentiabilityInfo, functions: Functions) -> tuple[NodeView, list[Problem]]:
    """The node of one entry with formulas, and what can't be said in C++."""
    schema = info.function.func
    unknown: list[str] = []
    inputs, results = saved_members(info, unknown)
    members = [*inputs, *results]
    writer = _writer(info, members, functions)
    lines = [*_unpack(members), *_gradients(info, schema)]
    for derivative in info.derivatives:
        lines += _derivative(info, derivative, writer)
    lines += _returned(info, schema)
    problems = [Problem(info, node, message) for node, message in writer.problems]
    problems += [Problem(info, None, message) for message in unknown]
    problems += _mixed_gradients(info, schema)
    counted = [*map(_count, _lists(info)), *map(count_of_result, counted_results(info))]
    counts = [f"size_t {member} = 0;" for member in counted]
    view = NodeView(
        condition(info.function),
        info.node_name,
        cpp_text.derived_class(info.node_name, "torch::autograd::Node"),
        schema.full_name,
        (*(f"{saved.type} {saved.member}{_initial(saved)};" for saved in members), *counts),
        tuple([f"autograd::reset({saved.member});" for saved in members if saved.is_variable]),
        tuple(lines),
    )
    return view, problems


def _initial(saved: Saved) -> str:
    """Numbers begin with a value, so that no node has one that nobody wrote."""
    plain = saved.type in ("bool", "int64_t", "double") or saved.type.startswith("at::ScalarType")
    return "{}" if plain or saved.type in ("at::Layout", "at::MemoryFormat") else ""


def _writer(info: DifferentiabilityInfo, members: Sequence[Saved], functions: Functions) -> Writer:
    schema = info.function.func
    values = {a.name for a in schema.arguments} | set(return_names(schema))
    kinds = {saved.attribute.name: saved.kind for saved in members}

    def fact(node: Expression) -> tuple[str, str] | None:
        found = fact_of(node, values)
        if found is None:
            return None
        name, kind = cpp_text.identifier(found.name), kinds.get(found.name, "other")
        return (f"{name}.zeros()", "tensor") if kind == "zeros" else (name, kind)

    return Writer(functions, scope_kinds(schema, members), fact)


def _unpack(members: Sequence[Saved]) -> Iterator[str]:
    for saved in members:
        if saved.is_variable or saved.unpack.startswith("*"):
            head = f"const auto {saved.local}"
        else:
            head = f"auto& {saved.local}"
        yield from _statement(head, saved.unpack)


def _statement(head: str, value: str) -> list[str]:
    text = cpp_text.constant(head, value, indent=_INDENT)
    first, *rest = text.split("\n")
    return [" " * _INDENT + first, *rest]


def _written(info: DifferentiabilityInfo) -> Iterator[Expression]:
    """Every part of every formula of an entry."""
    for derivative in info.derivatives:
        if derivative.formula.expression is not None:
            yield from walk(derivative.formula.expression)


def _tests_presence(info: DifferentiabilityInfo) -> bool:
    """Whether a formula asks if a gradient is there; then what isn't stays so."""
    return any(
        isinstance(node, Call)
        and isinstance(node.function, Member)
        and node.function.name == "defined"
        and str(node).startswith("grad")
        for node in _written(info)
    )


def _gradients(info: DifferentiabilityInfo, schema: FunctionSchema) -> Iterator[str]:
    """`grad`, `grads` or `grad_NAME`, whichever the formulas use."""
    margin = " " * _INDENT
    used = {node.text for node in _written(info) if isinstance(node, Name)}
    outputs = differentiable_outputs(schema, info)
    many = len(outputs) > 1 or any(isinstance(r.type, ListType) for r in schema.returns)
    if many and not _tests_presence(info):
        yield f"{margin}autograd::materialize(*this, grads);"
    if "grad" in used:
        is_list = isinstance(schema.returns[outputs[0]].type, ListType)
        yield f"{margin}const auto& grad = grads{'' if is_list else '[0]'};"
    names = return_names(schema)
    for index in outputs:
        if f"grad_{names[index]}" not in info.used_gradients:
            continue
        before = [i for i in outputs if i < index]
        lists = [count_of_result(i) for i in before if isinstance(schema.returns[i].type, ListType)]
        first = _sum(len(before) - len(lists), lists)
        if isinstance(schema.returns[index].type, ListType):
            value = f"at::TensorList(grads).slice({first}, {count_of_result(index)}).vec()"
            yield from _statement(f"const auto grad_{names[index]}", value)
        else:
            yield from _statement(f"const auto& grad_{names[index]}", f"grads[{first}]")


def counted_results(info: DifferentiabilityInfo) -> list[int]:
    """The results that are lists, where formulas ask for a gradient by the name of a result.

    Such a list has as many gradients as elements, and what comes behind it begins only there.
    """
    returns = info.function.func.returns
    outputs = differentiable_outputs(info.function.func, info)
    return [i for i in outputs if info.used_gradients and isinstance(returns[i].type, ListType)]


def count_of_result(index: int) -> str:
    """The member that has the number of tensors in a result."""
    return f"result_{index}_count"


def _mixed_gradients(info: DifferentiabilityInfo, schema: FunctionSchema) -> Iterator[Problem]:
    """`grads` has a gradient for each element of a list, so its indices are no results beside one."""
    outputs = differentiable_outputs(schema, info)
    if len(outputs) < 2 or not any(isinstance(schema.returns[i].type, ListType) for i in outputs):
        return
    wrong = (n for n in _written(info) if isinstance(n, Name) and n.text == "grads")
    for node in islice(wrong, 1):
        message = "`grads` of several results, one of which is a list"
        yield Problem(info, node, message, "name the results, and write `grad_NAME`")


def _lists(info: DifferentiabilityInfo) -> list[str]:
    kinds = {a.name: dispatch_kind(a.type) for a in info.function.func.arguments}
    return [name for name in info.arguments if kinds[name] in LIST_KINDS]


def _count(name: str) -> str:
    return f"saved_{name}_count"


def _first(info: DifferentiabilityInfo, name: str) -> str:
    """The edge of an argument, or the first of its edges."""
    before = info.arguments[: info.arguments.index(name)]
    lists = [n for n in before if n in _lists(info)]
    return _sum(len(before) - len(lists), [_count(n) for n in lists])


def _sum(number: int, terms: Sequence[str]) -> str:
    return " + ".join([str(number), *terms] if number or not terms else terms)


def _local(name: str) -> str:
    return f"grad_{name}_"


def _wanted(info: DifferentiabilityInfo, name: str) -> str:
    if name in _lists(info):
        return f"autograd::wanted(*this, {_first(info, name)}, {_count(name)})"
    return f"task_should_compute_output({_first(info, name)})"


def _derivative(
    info: DifferentiabilityInfo, derivative: Derivative, writer: Writer
) -> Iterator[str]:
    expression = derivative.formula.expression
    assert expression is not None
    margin = " " * _INDENT
    lists = _lists(info)
    for name in derivative.names:
        type_ = "std::vector<at::Tensor>" if name in lists else "at::Tensor"
        yield f"{margin}{type_} {_local(name)};"
    if len(derivative.names) > 1:
        yield from _several(info, derivative, expression, writer)
        return
    (name,) = derivative.names
    if isinstance(expression, ListDisplay) and name not in lists:
        writer.problems.append((expression, f"the gradient of `{name}` is no list"))
    yield f"{margin}if ({_wanted(info, name)}) {{"
    yield from _mask(info, derivative, expression, _INDENT + 2)
    yield from statements(writer, _local(name), expression, indent=_INDENT + 2)
    yield f"{margin}}}"


def _several(
    info: DifferentiabilityInfo, derivative: Derivative, expression: Expression, writer: Writer
) -> Iterator[str]:
    """One formula for several gradients gives a tuple of them."""
    margin = " " * _INDENT
    tests = [_wanted(info, name) for name in derivative.names]
    yield from cpp_text.if_any(tests, indent=_INDENT)
    yield from _mask(info, derivative, expression, _INDENT + 2)
    targets = ", ".join(_local(name) for name in derivative.names)
    yield from statements(writer, f"std::tie({targets})", expression, indent=_INDENT + 2)
    yield f"{margin}}}"


def _mask(
    info: DifferentiabilityInfo, derivative: Derivative, expression: Expression, indent: int
) -> Iterator[str]:
    if not any(isinstance(n, Name) and n.text == "grad_input_mask" for n in walk(expression)):
        return
    wanted = [_wanted(info, name) for name in derivative.names]
    head = f"const std::array<bool, {len(wanted)}> grad_input_mask"
    text = f"{' ' * indent}{head} = {{{', '.join(wanted)}}};"
    if len(text) <= cpp_text.LINE_LENGTH:
        yield text
        return
    yield f"{' ' * indent}{head} = {{"
    yield from (f"{' ' * (indent + 4)}{item}," for item in wanted[:-1])
    yield f"{' ' * (indent + 4)}{wanted[-1]}}};"


def _returned(info: DifferentiabilityInfo, schema: FunctionSchema) -> Iterator[str]:
    """A gradient for each edge: lists of tensors have as many edges as elements."""
    lists = _lists(info)
    items = [
        f"autograd::sized({_local(name)}, {_count(name)})" if name in lists else _local(name)
        for name in info.arguments
    ]
    text = cpp_text.call("return autograd::gather(", ["*this", *items], ");", indent=_INDENT)
    first, *rest = text.split("\n")
    yield " " * _INDENT + first
    yield from rest
