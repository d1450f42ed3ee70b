"""The nodes of `register_autograd.cpp`: what each keeps, and its formulas as the body of `gradients`.

struct MulBackward0 : public autograd::Node {
  autograd::variable_list gradients(autograd::variable_list& grads) override {
    const auto self = autograd::unpack(*this, saved_self);
    const auto& grad = grads[0];
    at::Tensor grad_other_;
    if (autograd::wanted(*this, 1)) {
      grad_other_ = grad * self;
    }
    return autograd::gather(*this, grad_self_, grad_other_);
  }
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.calls import check_calls
from torchgen_lite.analysis.differentiability.info import used_gradients
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.nodes import Gradients, SharedValue, plan_backward
from torchgen_lite.analysis.differentiability.vocabulary import node_names
from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.formulas.facts import Saved
from torchgen_lite.formulas.model import Expression, Name
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.cpp import formula_needs
from torchgen_lite.languages.cpp.condition import types_of
from torchgen_lite.languages.cpp.formula import Functions, write
from torchgen_lite.schema import ListType
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp_torch.saved import FACTS, count_of, members
from torchgen_lite.targets.cpp_torch.saved import Member as SavedMember
from torchgen_lite.targets.cpp_torch.types import NO_CLASSES, Classes
from torchgen_lite.targets.output import Findings


class NodeView(NamedTuple):
    """A node: its name, the operator it stands for, what it keeps, its formulas.

    `guard` is the condition of an `#if`, or empty; `counts` are members with numbers of tensors.
    `grads` are gradients of results as formulas call them, each with its value and whether that has
    to be kept; absent ones are zeros if the node `is_materialized`. `shared` are values that several formulas
    use, each with the tests under which it is wanted. `results` has a gradient for each edge. In place of formulas there
    may be a `reference`, the results that it computes from `inputs`.
    """

    guard: str
    name: str
    operator: str
    members: Sequence[SavedMember]
    counts: Sequence[str]
    is_materialized: bool
    grads: Sequence[tuple[str, str, bool]]
    shared: Sequence[SharedValue]
    derivatives: Sequence[Gradients]
    results: Sequence[str]
    inputs: Sequence[str] = ()
    reference: Sequence[str] = ()


def node_view(
    info: DifferentiabilityInfo, functions: Functions, classes: Classes = NO_CLASSES
) -> NodeView:
    lists = {slot.name: count_of(info, slot.name) for slot in info.slots if slot.is_list}
    results = {slot.name: f"grad_{slot.name}_" for slot in info.slots}
    results |= {n: f"autograd::sized({results[n]}, {count})" for n, count in lists.items()}
    shared, derivatives = plan_backward(
        info, partial(_wanted, info), lambda tree: write(tree, functions)
    )
    return NodeView(
        guard=condition(info.function),
        name=info.node_name,
        operator=info.schema.full_name,
        members=members(info, classes),
        counts=[*lists.values(), *(count_of(info, i) for i in counted_results(info))],
        is_materialized=info.is_materialized,
        grads=list(_gradients(info)),
        shared=shared,
        derivatives=derivatives,
        results=list(results.values()),
    )


def unsayable_parts(info: DifferentiabilityInfo, functions: Functions) -> Findings:
    """The parts of formulas that have no equivalent in C++, TG540, or only one that nobody has."""
    types = types_of(info.schema)
    elsewhere = node_names(info.function) - types.keys()
    nodes: dict[Saved | None, Expression] = {}
    for part in _parts(info):
        node = part.node
        nodes.setdefault(part.saved, node)
        if isinstance(node, Name) and node.text in elsewhere:
            yield _unsayable(info, f"only PyTorch's own nodes know `{node.text}`", node.span)
    for tree in info.trees:
        for node, message, hint in formula_needs.unsayable(tree, functions):
            yield _unsayable(info, message, node.span, hint)
    for saved in info.saved:
        if not saved.is_whole and saved.fact not in FACTS:
            yield _unsayable(info, f"nothing is kept for `{nodes[saved]}`", nodes[saved].span)
        type_ = types.get(saved.source)
        if saved.is_whole and not saved.keeps_tensors and type_ and is_tensor_like(type_):
            message = f"`{saved.source}` cannot be saved: it is an optional list"
            yield _unsayable(info, message, None)
    yield from _mixed_gradients(info)
    # What `auto` calls is checked with references.
    trees = () if info.function.is_auto else info.trees
    yield from check_calls(info.function, trees, formula_needs.speech(functions))


def _unsayable(
    info: DifferentiabilityInfo, message: str, span: Span | None, hint: str = ""
) -> Diagnostic:
    place = span or info.derivatives[0].formula.span
    help_ = hint or "write it as C++ does, or name a header with `formula-headers`"
    return finding(info.function, "TG540", message, place, "not in C++", help_)


def calls_functions(info: DifferentiabilityInfo) -> bool:
    for part in _parts(info):
        operator = part.operator
        if operator is not None and operator.is_own and operator.is_function:
            return True
    return False


def _parts(info: DifferentiabilityInfo) -> Iterator[Typed]:
    """Every part of every formula of an entry."""
    for tree in info.trees:
        yield from every_part(tree)


def _gradients(info: DifferentiabilityInfo) -> Iterator[tuple[str, str, bool]]:
    """`grad` or `grad_NAME`, whichever the formulas use."""
    lists = _list_results(info)
    for name, position, index in used_gradients(info):
        is_list = index in lists
        first = _place(info, info.outputs[:position], lists)
        if name == "grad":
            yield name, "grads" if is_list else "grads[0]", False
        elif is_list:
            value = f"at::TensorList(grads).slice({first}, {count_of(info, index)}).vec()"
            yield name, value, True
        else:
            yield name, f"grads[{first}]", False


def counted_results(info: DifferentiabilityInfo) -> list[int]:
    """The results that are lists, where formulas ask for a gradient by the name of a result.

    Such a list has one gradient per element, so the positions after it depend on its length.
    """
    return _list_results(info) if info.used_gradients else []


def _list_results(info: DifferentiabilityInfo) -> list[int]:
    returns = info.schema.returns
    return [index for index in info.outputs if isinstance(returns[index].type, ListType)]


def _mixed_gradients(info: DifferentiabilityInfo) -> Findings:
    """Indices into `grads` next to a list result: they count the list's elements, not the
    results."""
    if len(info.outputs) < 2 or not _list_results(info):
        return
    for part in _parts(info):
        if isinstance(part.node, Name) and part.node.text == "grads":
            message = "`grads` of several results, one of which is a list"
            hint = "name the results, and write `grad_NAME`"
            yield _unsayable(info, message, part.node.span, hint)
            return


def _place(
    info: DifferentiabilityInfo, before: Sequence[str | int], lists: Collection[str | int]
) -> str:
    """The number of tensors `before`, of which the lists have as many as is counted: `1 + result_0_count`."""
    counts = [count_of(info, value) for value in before if value in lists]
    others = len(before) - len(counts)
    if others or not counts:
        counts.insert(0, str(others))
    return " + ".join(counts)


def _wanted(info: DifferentiabilityInfo, slot: int) -> str:
    """Whether the gradient of an argument is wanted: its edge, or the first of its edges and how many there are."""
    argument = info.slots[slot]
    place = _place(info, names_of(info.slots[:slot]), info.lists)
    if argument.is_list:
        place = f"{place}, {count_of(info, argument.name)}"
    return f"autograd::wanted(*this, {place})"
