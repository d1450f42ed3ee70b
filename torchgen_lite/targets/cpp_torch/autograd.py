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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.derive.views import is_aliasing
from torchgen_lite.analysis.differentiability import DifferentiabilityInfo, differentiable_outputs
from torchgen_lite.analysis.dispatch_index import effective_dispatch
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import KEYSET
from torchgen_lite.dialects.cpp.types import VOID
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.nodes import count_of_result, counted_results
from torchgen_lite.targets.cpp_torch.registrations import implementation
from torchgen_lite.targets.cpp_torch.saved import LIST_KINDS, Saved, saved_members

TENSORS = frozenset("TOLP")
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


def is_composite_implicit(operator: Operator) -> bool:
    """Whether the operator has only kernels that autograd sees through."""
    keys = {entry.key for entry in effective_dispatch(operator.function)}
    return keys == {"CompositeImplicitAutograd"}


def is_composed(operator: Operator) -> bool:
    """Whether a kernel of the operator is made of other operators."""
    keys = {entry.key for entry in effective_dispatch(operator.function)}
    return any(key.startswith("CompositeExplicit") for key in keys)


def written(operator: Operator) -> list[str]:
    """The tensors that the operator writes to."""
    return [
        a.name for a in operator.schema.arguments if a.is_write and _is_tensor(operator, a.name)
    ]


def tensors(operator: Operator) -> list[str]:
    """The arguments that are tensors or have some."""
    return [a.name for a in operator.schema.arguments if _is_tensor(operator, a.name)]


def _is_tensor(operator: Operator, name: str) -> bool:
    return _kinds(operator)[name] in TENSORS


def _kinds(operator: Operator) -> Mapping[str, str]:
    return {a.name: dispatch_kind(a.type) for a in operator.schema.arguments}


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
    return implementation(operator, value)


def _refuse_tangents(operator: Operator) -> list[str]:
    name = cpp_text.quote(operator.function.name)
    return _call("autograd::refuse_tangents(", [name, *_identifiers(tensors(operator))])


def autograd_kernel(operator: Operator, key: str, info: DifferentiabilityInfo) -> KernelView:
    """The kernel of a functional, in-place or view operator with formulas."""
    is_inplace = operator.schema.kind() is SchemaKind.inplace
    lines = _refuse_tangents(operator)
    lines.append("  const auto _below = _keys & c10::after_autograd_keyset;")
    needs, names = "torch::autograd::compute_requires_grad(", _identifiers(info.arguments)
    if is_inplace:
        text = cpp_text.assignment("const bool _recorded", needs, names, indent=2)
        lines += f"  {text}".split("\n")
        lines += _inplace_lines(operator, info)
    else:
        lines += cpp_text.if_call(f"!{needs}", names, indent=2)
        guard = _BELOW_AUTOGRAD if is_aliasing(operator.schema) else _BELOW_VIEWS
        lines += [*guarded(operator, guard, "_below", indent=4), "  }"]
        lines += _functional_lines(operator, info, guard)
    return view_of(operator, key, lines)


def _make_node(operator: Operator, info: DifferentiabilityInfo, indent: int) -> Iterator[str]:
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
    kinds = {a.name: dispatch_kind(a.type) for a in info.function.func.arguments}
    for name in info.arguments:
        if kinds[name] in LIST_KINDS:
            yield f"{margin}_node->saved_{name}_count = {cpp_text.identifier(name)}.size();"
    is_inplace = operator.schema.kind() is SchemaKind.inplace
    for saved in saved_members(info, [])[0]:
        value = cpp_text.identifier(saved.attribute.source)
        if is_inplace and value == "self" and saved.is_variable:
            # The formulas speak of the tensor as it was.
            value = "self.clone()"
        statement = f"_node->{saved.member}"
        if not saved.needed:
            yield from _assign(statement, saved.expression(value), indent)
            continue
        tests = [f"_node->should_compute_output({index})" for index in saved.needed]
        yield from cpp_text.if_any(tests, indent=indent)
        yield from _assign(statement, saved.expression(value), indent + 2)
        yield f"{margin}}}"


def _assign(target: str, value: str, indent: int) -> list[str]:
    first, *rest = cpp_text.constant(target, value, indent=indent).split("\n")
    return [" " * indent + first, *rest]


def _functional_lines(operator: Operator, info: DifferentiabilityInfo, guard: str) -> Iterator[str]:
    yield from _assign("auto _node", f"c10::make_intrusive<{info.node_name}>()", 2)
    yield from _make_node(operator, info, 2)
    yield "  auto _result = [&] {"
    yield from guarded(operator, guard, "_below", indent=4)
    yield "  }();"
    returns, counted = operator.schema.returns, counted_results(info)
    for index in differentiable_outputs(operator.schema, info):
        value = "_result" if len(returns) == 1 else f"std::get<{index}>(_result)"
        yield f"  torch::autograd::set_history({value}, _node);"
        if index in counted:
            yield from _assign(f"_node->{count_of_result(index)}", f"{value}.size()", 2)
    for saved in saved_members(info, [])[1]:
        value = "_result" if len(returns) == 1 else f"std::get<{saved.index}>(_result)"
        yield from _keep_result(saved, value)
    yield "  return _result;"


def _keep_result(saved: Saved, value: str, *, indent: int = 2, more: str = "") -> list[str]:
    text = saved.expression(value)
    if saved.is_variable:
        text = text.replace(", false)", f", true{more})")
        if saved.source_kind in LIST_KINDS:
            text = f"torch::autograd::make_saved_variable_list({value}, true)"
    return _assign(f"_node->{saved.member}", text, indent)


def _inplace_lines(operator: Operator, info: DifferentiabilityInfo) -> Iterator[str]:
    yield "  torch::autograd::check_inplace(self, _recorded);"
    yield f"  c10::intrusive_ptr<{info.node_name}> _node;"
    yield "  if (_recorded) {"
    yield from _assign("_node", f"c10::make_intrusive<{info.node_name}>()", 4)
    yield from _make_node(operator, info, 4)
    yield "  }"
    yield "  {"
    yield f"    {_BELOW_AUTOGRAD} _guard;"
    yield from redispatch(operator, "", "_below", indent=4)
    yield "  }"
    yield "  if (_recorded) {"
    yield "    torch::autograd::rebase_history(self, _node);"
    for saved in saved_members(info, [])[1]:
        yield from _keep_result(saved, "self", indent=4, more=", self.is_view()")
    yield "  }"
    if operator.schema.returns:
        yield "  return self;"


def out_kernel(operator: Operator, key: str, info: DifferentiabilityInfo) -> KernelView:
    """The kernel of an out variant, which is refused where it would have to be recorded."""
    names = [*info.arguments, *(a.name for a in operator.schema.out)]
    lines = _refuse_tangents(operator)
    needs = "torch::autograd::compute_requires_grad("
    lines += cpp_text.if_call(needs, _identifiers(names), indent=2)
    name = cpp_text.quote(operator.schema.base_name)
    lines += [*_call("torch::autograd::throw_error_out_requires_grad(", [name], 4), "  }"]
    lines.append("  const auto _below = _keys & c10::after_autograd_keyset;")
    lines += guarded(operator, _BELOW_AUTOGRAD, "_below", indent=2)
    return view_of(operator, key, lines)


def passing_kernel(operator: Operator, key: str) -> KernelView:
    """The kernel of an operator that isn't differentiable and whose kernel calls other operators.

    Those must not record what they do.
    """
    guard = _BELOW_AUTOGRAD if written(operator) else _BELOW_VIEWS
    lines = ["  const auto _below = _keys & c10::after_autograd_keyset;"]
    return view_of(operator, key, [*lines, *guarded(operator, guard, "_below", indent=2)])


def written_kernel(operator: Operator) -> KernelView:
    """The ADInplaceOrView kernel of an operator that writes: the versions of what it wrote go up."""
    keys = "_keys & c10::after_ADInplaceOrView_keyset"
    lines = [f"  const auto _below = {keys};"]
    raised = [f"  autograd::raise_version({name});" for name in _identifiers(written(operator))]
    if operator.signature.returns == VOID:
        lines += ["  {", f"    {_BELOW_VIEWS} _guard;"]
        lines += [*redispatch(operator, "", "_below", indent=4), "  }", *raised]
        return view_of(operator, VIEWS, lines)
    # What is returned may be a reference to what was written.
    lines.append("  decltype(auto) _result = [&]() -> decltype(auto) {")
    lines += [*guarded(operator, _BELOW_VIEWS, "_below", indent=4), "  }();", *raised]
    return view_of(operator, VIEWS, [*lines, "  return _result;"])


def view_kernel(operator: Operator) -> KernelView:
    """The ADInplaceOrView kernel of a view: its result remembers its base."""
    base = cpp_text.identifier(viewed(operator) or "self")
    several = isinstance(operator.schema.returns[0].type, ListType)
    lines = ["  const auto _below = _keys & c10::after_ADInplaceOrView_keyset;"]
    lines += ["  auto _result = [&] {", *guarded(operator, _BELOW_VIEWS, "_below", indent=4)]
    lines += [
        "  }();",
        f"  return autograd::{'as_views' if several else 'as_view'}({base}, _result);",
    ]
    return view_of(operator, VIEWS, lines)


def viewed(operator: Operator) -> str | None:
    """The tensor that the only result is a view of, or None."""
    returns = operator.schema.returns
    if len(returns) != 1:
        return None
    annotation = returns[0].annotation
    shared = [
        a.name
        for a in operator.schema.arguments
        if dispatch_kind(a.type) == "T"
        and a.annotation is not None
        and annotation is not None
        and not a.is_write
        and (a.annotation.before == annotation.before or "*" in a.annotation.after)
    ]
    return shared[0] if len(shared) == 1 else None
