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

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, refusal
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.signature import KEYSET
from torchgen_lite.languages.cpp.types import VOID, CType
from torchgen_lite.schema import ListType
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.nodes import count_of_result, count_of_slot, counted_results
from torchgen_lite.targets.cpp_torch.saved import Member, members

VIEWS = "ADInplaceOrView"
_AFTER_AUTOGRAD, _AFTER_VIEWS = "after_autograd_keyset", "after_ADInplaceOrView_keyset"
_BELOW_AUTOGRAD = "at::AutoDispatchBelowAutograd"
_BELOW_VIEWS = "at::AutoDispatchBelowADInplaceOrView"


class RecordView(NamedTuple):
    """How a call is recorded: the node, the arguments with gradients, what is kept before the call and after it.

    `saved` and `kept` are members with their values; one that is saved may be kept only for the
    gradients at the positions in the third item. `counts` are members for numbers of tensors, each
    with its list. `results` have a history; the second item of each is the member with its number of
    tensors, if there is one.
    """

    node: str
    arguments: tuple[str, ...]
    counts: tuple[tuple[str, str], ...]
    saved: tuple[tuple[str, str, tuple[int, ...]], ...]
    kept: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, str], ...]
    is_inplace: bool


class AutogradKernel(NamedTuple):
    """One generated kernel.

    `condition` is that of an `#if`, `flat` the typed call that passes everything on, `after` the
    keyset of the keys below, `guard` what excludes the keys above. `tensors` may not have tangents;
    `refused` and `undifferentiable` may not require gradients, each with its message. The versions
    of `written` are incremented; `viewed` is the base of a view, `as_view` the function that
    records it.
    """

    condition: str
    name: str
    returns: CType
    parameters: str
    flat: str
    passed: tuple[str, ...]
    operator: str
    base: str
    after: str = _AFTER_AUTOGRAD
    guard: str = _BELOW_VIEWS
    tensors: tuple[str, ...] = ()
    undifferentiable: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    record: RecordView | None = None
    written: tuple[str, ...] = ()
    viewed: str = ""
    as_view: str = ""

    @property
    def is_void(self) -> bool:
        """Whether nothing is returned."""
        return self.returns == VOID


def _identifiers(names: Sequence[str]) -> tuple[str, ...]:
    return tuple([cpp_text.identifier(name) for name in names])


def _kernel(operator: CppOperator, key: str) -> AutogradKernel:
    """The kernel under this key that passes a call on."""
    signature = operator.signature
    keyed = (KEYSET._replace(name="_keys"), *signature.parameters)
    return AutogradKernel(
        condition=operator.guard,
        name=f"{key.lower()}_{operator.flat}",
        returns=signature.returns,
        parameters=cpp_text.parameter_list(keyed),
        flat=operator.flat,
        passed=("_below", *_identifiers([p.name for p in signature.parameters])),
        operator=cpp_text.quote(operator.function.name),
        base=cpp_text.quote(operator.schema.base_name),
    )


def autograd_kernel(
    operator: CppOperator, key: str, plan: AutogradPlan, info: DifferentiabilityInfo
) -> AutogradKernel:
    """The kernel of a functional, in-place or view operator with formulas."""
    kept = members(info)
    record = RecordView(
        node=info.node_name,
        arguments=_identifiers(info.arguments),
        counts=tuple(
            (count_of_slot(info, slot.name), cpp_text.identifier(slot.name))
            for slot in info.slots
            if slot.is_list
        ),
        saved=tuple(_saved(operator, info, m) for m in kept if m.saved.result is None),
        kept=tuple(_kept_results(operator, kept)),
        results=tuple(_results(operator, info)),
        is_inplace=operator.is_inplace,
    )
    guard = _BELOW_AUTOGRAD if plan.is_view or operator.is_inplace else _BELOW_VIEWS
    without = [
        (cpp_text.identifier(one.name), cpp_text.quote(refusal(operator.function.name, one.name)))
        for one in info.without_formula
    ]
    return _kernel(operator, key)._replace(
        guard=guard,
        tensors=_tensors(plan),
        undifferentiable=tuple(without),
        record=record,
    )


def _tensors(plan: AutogradPlan) -> tuple[str, ...]:
    return _identifiers([tensor.name for tensor in plan.tensors])


def _saved(
    operator: CppOperator, info: DifferentiabilityInfo, member: Member
) -> tuple[str, str, tuple[int, ...]]:
    """What a node keeps of an argument."""
    saved, value = member.saved, cpp_text.identifier(member.saved.source)
    if operator.is_inplace and value == "self" and saved.keeps_tensors:
        # The formulas refer to the tensor's old value.
        value = "self.clone()"
    # If lists have gradients, the number of gradients is not known here.
    is_conditional = saved.keeps_tensors and not info.lists
    needed_by = tuple(saved.needed_by) if is_conditional else ()
    return member.name, member.input(value), needed_by


def _result(operator: CppOperator, index: int) -> str:
    """A result as an expression."""
    return "_result" if len(operator.schema.returns) == 1 else f"std::get<{index}>(_result)"


def _kept_results(operator: CppOperator, kept: Sequence[Member]) -> Iterator[tuple[str, str]]:
    """What a node keeps of the results."""
    for member in kept:
        index = member.saved.result
        if index is not None and operator.is_inplace:
            yield member.name, member.result("self", "self.is_view()")
        elif index is not None:
            yield member.name, member.result(_result(operator, index))


def _results(operator: CppOperator, info: DifferentiabilityInfo) -> Iterator[tuple[str, str]]:
    counted = counted_results(info)
    for index in info.outputs:
        yield _result(operator, index), count_of_result(info, index) if index in counted else ""


def out_kernel(
    operator: CppOperator, key: str, plan: AutogradPlan, info: DifferentiabilityInfo
) -> AutogradKernel:
    """The kernel of an out variant, which refuses calls that would have to be recorded."""
    names = _identifiers([*info.arguments, *(a.name for a in operator.schema.out)])
    kernel = _kernel(operator, key)
    return kernel._replace(guard=_BELOW_AUTOGRAD, tensors=_tensors(plan), refused=names)


def passing_kernel(operator: CppOperator, key: str, plan: AutogradPlan) -> AutogradKernel:
    """The kernel of a non-differentiable operator whose kernel calls other operators.

    Those operators must not record anything.
    """
    return _kernel(operator, key)._replace(guard=_BELOW_AUTOGRAD if plan.written else _BELOW_VIEWS)


def written_kernel(operator: CppOperator, plan: AutogradPlan) -> AutogradKernel:
    """The ADInplaceOrView kernel of an operator that writes: it increments the versions of what it
    wrote."""
    return _kernel(operator, VIEWS)._replace(after=_AFTER_VIEWS, written=_identifiers(plan.written))


def view_kernel(operator: CppOperator, base: str) -> AutogradKernel:
    """The ADInplaceOrView kernel of a view: its result remembers its base."""
    several = isinstance(operator.schema.returns[0].type, ListType)
    return _kernel(operator, VIEWS)._replace(
        after=_AFTER_VIEWS,
        viewed=cpp_text.identifier(base),
        as_view="as_views" if several else "as_view",
    )
