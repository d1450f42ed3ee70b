"""`register_autograd.cpp`: a node for each entry with formulas, and a kernel for each operator that uses it.

at::Tensor autograd_mul(c10::DispatchKeySet _keys, const at::Tensor& self, const at::Tensor& other) {
  autograd::refuse_tangents("mylib::mul", self, other);
  const auto _below = _keys & c10::after_autograd_keyset;
  if (!torch::autograd::compute_requires_grad(self, other)) {
    at::AutoDispatchBelowADInplaceOrView _guard;
    return ops::mul::redispatch(_below, self, other);
  }
  auto _node = autograd::make_node<MulBackward0>();
  _node->set_next_edges(torch::autograd::collect_next_edges(self, other));
  ...
}

Note [Versions and views in C++]
A tensor that an operator writes gets a new version, and a view its base, at the key
ADInplaceOrView, below autograd. libtorch does neither for custom operators, so every operator that
writes has a kernel there, with or without formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, refusal
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.schema import ListType
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.nodes import count_of_result, count_of_slot, counted_results
from torchgen_lite.targets.cpp_torch.saved import members

_BELOW_AUTOGRAD = "at::AutoDispatchBelowAutograd"
_BELOW_VIEWS = "at::AutoDispatchBelowADInplaceOrView"


class AutogradKernel(NamedTuple):
    """The kernel of an operator under a key, by the names of arguments.

    `guard` excludes the keys above. `tensors` may not have tangents; `refused` and `undifferentiable`
    may not require gradients, each of the latter with its message. The versions of `written` are
    incremented; `viewed` is the base of a view, or of each of several (`views_list`).

    A call that is recorded has a `node`, and `arguments` with gradients. `saved` and `kept` are members
    with their values, before the call and after it; one that is saved may be kept only for the
    gradients at the positions in the third item. `counts` are members for numbers of tensors, each
    with its list. `results` have a history; the second item of each is the member with its number of
    tensors, if there is one.
    """

    operator: CppOperator
    key: str
    guard: str = _BELOW_VIEWS
    tensors: tuple[str, ...] = ()
    undifferentiable: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    viewed: str = ""
    views_list: bool = False
    node: str = ""
    arguments: tuple[str, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()
    saved: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    results: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.key.lower()}_{self.operator.flat}"


def autograd_kernel(
    operator: CppOperator, one: Registration, plan: AutogradPlan, info: DifferentiabilityInfo | None
) -> AutogradKernel:
    """The kernel that is registered; `info` are the formulas under its key."""
    kernel = AutogradKernel(operator, one.key)
    if one.origin is Origin.raises_versions:
        return kernel._replace(written=plan.written)
    if one.origin is Origin.view and plan.viewed is not None:
        several = isinstance(operator.schema.returns[0].type, ListType)
        return kernel._replace(viewed=plan.viewed, views_list=several)
    if one.origin is Origin.passes or info is None:
        # The operators that the author's kernel calls must not record anything.
        return kernel._replace(guard=_BELOW_AUTOGRAD if plan.written else _BELOW_VIEWS)
    kernel = kernel._replace(tensors=tuple([tensor.name for tensor in plan.tensors]))
    if one.origin is Origin.refuses_out:
        refused = (*info.arguments, *[a.name for a in operator.schema.out])
        return kernel._replace(guard=_BELOW_AUTOGRAD, refused=refused)
    name = operator.function.name
    counted, lists = counted_results(info), [slot.name for slot in info.slots if slot.is_list]
    return kernel._replace(
        guard=_BELOW_AUTOGRAD if plan.is_view or operator.is_inplace else _BELOW_VIEWS,
        undifferentiable=tuple(
            [(one.name, refusal(name, one.name)) for one in info.without_formula]
        ),
        node=info.node_name,
        arguments=info.arguments,
        counts=tuple([(count_of_slot(info, name), name) for name in lists]),
        saved=tuple(_saved(operator, info)),
        kept=tuple(_kept(operator, info)),
        results=tuple(
            [
                (_result(operator, i), count_of_result(info, i) if i in counted else "")
                for i in info.outputs
            ]
        ),
    )


def _saved(
    operator: CppOperator, info: DifferentiabilityInfo
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """What a node keeps of the arguments."""
    for member in members(info):
        saved, value = member.saved, identifier(member.saved.source)
        if saved.result is not None:
            continue
        if operator.is_inplace and value == "self" and saved.keeps_tensors:
            # The formulas refer to the tensor's old value.
            value = "self.clone()"
        # If lists have gradients, the number of gradients is not known here.
        is_conditional = saved.keeps_tensors and not info.lists
        yield member.name, member.input(value), saved.needed_by if is_conditional else ()


def _kept(operator: CppOperator, info: DifferentiabilityInfo) -> Iterator[tuple[str, str]]:
    """What a node keeps of the results."""
    for member in members(info):
        index = member.saved.result
        if index is not None and operator.is_inplace:
            yield member.name, member.result("self", "self.is_view()")
        elif index is not None:
            yield member.name, member.result(_result(operator, index))


def _result(operator: CppOperator, index: int) -> str:
    """A result as an expression."""
    return "_result" if len(operator.schema.returns) == 1 else f"std::get<{index}>(_result)"
