"""`register_autograd.cpp`: a node for each entry with formulas, and a kernel for each operator that uses it.

at::Tensor autograd_mul(c10::DispatchKeySet _keys, const at::Tensor& self, const at::Tensor& other) {
  autograd::refuse_tangents("mylib::mul", self, other);
  const auto _below = _keys & c10::after_autograd_keyset;
  if (!torch::autograd::compute_requires_grad(self, other)) {
    at::AutoDispatchBelowADInplaceOrView _guard;
    return ops::mul::redispatch(_below, self, other);
  }
  auto _node = c10::make_intrusive<MulBackward0>();
  _node->set_next_edges(torch::autograd::collect_next_edges(self, other));
  ...
}

Note [Versions and views in C++]
What an operator writes gets a new version, and a view learns its base, at the key ADInplaceOrView, which lies
below autograd. libtorch does neither by itself for operators that are not its own, so every operator that
writes has a kernel there, with formulas or without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.differentiability import AutogradPlan, DifferentiabilityInfo
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import KEYSET
from torchgen_lite.dialects.cpp.types import VOID
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.nodes import count_of_result, counted_results
from torchgen_lite.targets.cpp_torch.saved import Member, members

VIEWS = "ADInplaceOrView"
_BELOW_AUTOGRAD = "at::AutoDispatchBelowAutograd"
_BELOW_VIEWS = "at::AutoDispatchBelowADInplaceOrView"


@dataclass(frozen=True, slots=True)
class KernelView:
    """One generated kernel: its head, its lines, and the line that registers it. `guard` is an `#if`."""

    guard: str
    opening: str
    lines: tuple[str, ...]
    register: str


def _identifiers(names: Sequence[str]) -> list[str]:
    return [cpp_text.identifier(name) for name in names]


def _call(head: str, items: Sequence[str], indent: int = 2, close: str = ");") -> list[str]:
    text = cpp_text.call(head, items, close, indent=indent)
    first, *rest = text.split("\n")
    return [" " * indent + first, *rest]


def redispatch(operator: Operator, head: str, keys: str, *, indent: int) -> list[str]:
    """The call below, laid out."""
    names = _identifiers([p.name for p in operator.signature.parameters])
    return _call(f"{head}ops::{operator.flat}::redispatch(", [keys, *names], indent)


def guarded(operator: Operator, guard: str, keys: str, *, indent: int) -> list[str]:
    """A guard and the call below, whose result is returned."""
    margin = " " * indent
    return [f"{margin}{guard} _guard;", *redispatch(operator, "return ", keys, indent=indent)]


def view_of(operator: Operator, key: str, lines: Sequence[str]) -> KernelView:
    """The kernel under this key with these lines, and its registration."""
    signature, name = operator.signature, f"{key.lower()}_{operator.flat}"
    keyed = (KEYSET._replace(name="_keys"), *signature.parameters)
    items = cpp_text.parameters(keyed)
    opening = cpp_text.declaration("", signature.returns, name, items, ") {")
    return KernelView(operator.guard, opening, tuple(lines), register_line(operator, name))


def register_line(operator: Operator, expression: str, *, function: bool = True) -> str:
    """`m.impl("mul", TORCH_FN(autograd_mul));`."""
    value = f"TORCH_FN({expression})" if function else expression
    return f"m.impl({cpp_text.quote(operator.schema.local_name)}, {value});"


def _refuse_tangents(operator: Operator, plan: AutogradPlan) -> list[str]:
    name = cpp_text.quote(operator.function.name)
    tensors = _identifiers([tensor.name for tensor in plan.tensors])
    return _call("autograd::refuse_tangents(", [name, *tensors])


def autograd_kernel(
    operator: Operator, key: str, plan: AutogradPlan, info: DifferentiabilityInfo
) -> KernelView:
    """The kernel of a functional, in-place or view operator with formulas."""
    kept = members(info)
    lines = _refuse_tangents(operator, plan)
    lines.append("  const auto _below = _keys & c10::after_autograd_keyset;")
    needs, names = "torch::autograd::compute_requires_grad(", _identifiers(info.arguments)
    if operator.schema.kind() is SchemaKind.inplace:
        text = cpp_text.assignment("const bool _recorded", needs, names, indent=2)
        lines += f"  {text}".split("\n")
        lines += _inplace_lines(operator, info, kept)
    else:
        lines += cpp_text.if_call(f"!{needs}", names, indent=2)
        guard = _BELOW_AUTOGRAD if plan.is_view else _BELOW_VIEWS
        lines += [*guarded(operator, guard, "_below", indent=4), "  }"]
        lines += _functional_lines(operator, info, kept, guard)
    return view_of(operator, key, lines)


def _make_node(
    info: DifferentiabilityInfo, kept: Sequence[Member], indent: int, *, is_inplace: bool
) -> Iterator[str]:
    """The node's edges, and what it keeps of the inputs."""
    margin = " " * indent
    names = _identifiers(info.arguments)
    collected = "torch::autograd::collect_next_edges("
    line = f"{margin}_node->set_next_edges({collected}{', '.join(names)}));"
    if len(line) <= cpp_text.LINE_LENGTH:
        yield line
    else:
        yield f"{margin}_node->set_next_edges("
        yield from _call(collected, names, indent + cpp_text.CONTINUATION, "));")
    for slot in info.slots:
        if slot.is_list:
            size = f"{cpp_text.identifier(slot.name)}.size()"
            yield f"{margin}_node->saved_{slot.name}_count = {size};"
    for member in kept:
        saved = member.saved
        if saved.result is not None:
            continue
        value = cpp_text.identifier(saved.source)
        if is_inplace and value == "self" and saved.keeps_tensors:
            # The formulas speak of the tensor as it was.
            value = "self.clone()"
        statement = f"_node->{member.name}"
        # Where lists have gradients, the numbers of gradients are not known.
        if not saved.needed_by or not saved.keeps_tensors or info.lists:
            yield from _assign(statement, member.input(value), indent)
            continue
        tests = [f"_node->should_compute_output({index})" for index in saved.needed_by]
        yield from cpp_text.if_any(tests, indent=indent)
        yield from _assign(statement, member.input(value), indent + 2)
        yield f"{margin}}}"


def _assign(target: str, value: str, indent: int) -> list[str]:
    first, *rest = cpp_text.constant(target, value, indent=indent).split("\n")
    return [" " * indent + first, *rest]


def _functional_lines(
    operator: Operator, info: DifferentiabilityInfo, kept: Sequence[Member], guard: str
) -> Iterator[str]:
    yield from _assign("auto _node", f"c10::make_intrusive<{info.node_name}>()", 2)
    yield from _make_node(info, kept, 2, is_inplace=False)
    yield "  auto _result = [&] {"
    yield from guarded(operator, guard, "_below", indent=4)
    yield "  }();"
    count, counted = len(operator.schema.returns), counted_results(info)
    values = ["_result"] if count == 1 else [f"std::get<{i}>(_result)" for i in range(count)]
    for index in info.outputs:
        yield f"  torch::autograd::set_history({values[index]}, _node);"
        if index in counted:
            yield from _assign(f"_node->{count_of_result(index)}", f"{values[index]}.size()", 2)
    for member in kept:
        if member.saved.result is not None:
            value = member.result(values[member.saved.result])
            yield from _assign(f"_node->{member.name}", value, 2)
    yield "  return _result;"


def _inplace_lines(
    operator: Operator, info: DifferentiabilityInfo, kept: Sequence[Member]
) -> Iterator[str]:
    yield "  torch::autograd::check_inplace(self, _recorded);"
    yield f"  c10::intrusive_ptr<{info.node_name}> _node;"
    yield "  if (_recorded) {"
    yield from _assign("_node", f"c10::make_intrusive<{info.node_name}>()", 4)
    yield from _make_node(info, kept, 4, is_inplace=True)
    yield "  }"
    yield "  {"
    yield f"    {_BELOW_AUTOGRAD} _guard;"
    yield from redispatch(operator, "", "_below", indent=4)
    yield "  }"
    yield "  if (_recorded) {"
    yield "    torch::autograd::rebase_history(self, _node);"
    for member in kept:
        if member.saved.result is not None:
            yield from _assign(f"_node->{member.name}", member.result("self", "self.is_view()"), 4)
    yield "  }"
    if operator.schema.returns:
        yield "  return self;"


def out_kernel(
    operator: Operator, key: str, plan: AutogradPlan, info: DifferentiabilityInfo
) -> KernelView:
    """The kernel of an out variant, which is refused where it would have to be recorded."""
    names = [*info.arguments, *(a.name for a in operator.schema.out)]
    lines = _refuse_tangents(operator, plan)
    needs = "torch::autograd::compute_requires_grad("
    lines += cpp_text.if_call(needs, _identifiers(names), indent=2)
    name = cpp_text.quote(operator.schema.base_name)
    lines += [*_call("torch::autograd::throw_error_out_requires_grad(", [name], 4), "  }"]
    lines.append("  const auto _below = _keys & c10::after_autograd_keyset;")
    lines += guarded(operator, _BELOW_AUTOGRAD, "_below", indent=2)
    return view_of(operator, key, lines)


def passing_kernel(operator: Operator, key: str, plan: AutogradPlan) -> KernelView:
    """The kernel of an operator that isn't differentiable and whose kernel calls other operators.

    Those must not record what they do.
    """
    guard = _BELOW_AUTOGRAD if plan.written else _BELOW_VIEWS
    lines = ["  const auto _below = _keys & c10::after_autograd_keyset;"]
    return view_of(operator, key, [*lines, *guarded(operator, guard, "_below", indent=2)])


def written_kernel(operator: Operator, plan: AutogradPlan) -> KernelView:
    """The ADInplaceOrView kernel of an operator that writes: the versions of what it wrote go up."""
    keys = "_keys & c10::after_ADInplaceOrView_keyset"
    lines = [f"  const auto _below = {keys};"]
    raised = [f"  autograd::raise_version({name});" for name in _identifiers(plan.written)]
    if operator.signature.returns == VOID:
        lines += ["  {", f"    {_BELOW_VIEWS} _guard;"]
        lines += [*redispatch(operator, "", "_below", indent=4), "  }", *raised]
        return view_of(operator, VIEWS, lines)
    # What is returned may be a reference to what was written.
    lines.append("  decltype(auto) _result = [&]() -> decltype(auto) {")
    lines += [*guarded(operator, _BELOW_VIEWS, "_below", indent=4), "  }();", *raised]
    return view_of(operator, VIEWS, [*lines, "  return _result;"])


def view_kernel(operator: Operator, base: str) -> KernelView:
    """The ADInplaceOrView kernel of a view: its result remembers its base."""
    several = isinstance(operator.schema.returns[0].type, ListType)
    function = f"autograd::{'as_views' if several else 'as_view'}"
    lines = ["  const auto _below = _keys & c10::after_ADInplaceOrView_keyset;"]
    lines += ["  auto _result = [&] {", *guarded(operator, _BELOW_VIEWS, "_below", indent=4)]
    lines += ["  }();", f"  return {function}({cpp_text.identifier(base)}, _result);"]
    return view_of(operator, VIEWS, lines)
