"""`register_autograd.py`: a node for each entry with formulas, and a kernel for each operator that uses it.

class MulBackward0(_Node):
    def apply(node, grads):
        self, other = node.unpack()
        grad = grads[0]
        ...

def autograd_mul_Tensor(_keyset, self, other):
    _needs = (self._requires_grad, other._requires_grad)
    if True not in _needs or not _grad_enabled():
        return _redispatch_operators.mul_Tensor(_after_autograd[_keyset], self, other)
    _node = MulBackward0((_edge_of(self), _edge_of(other)), _needs)
    _node.saved = (_save(self) if _needs[1] else None, _save(other) if _needs[0] else None)
    _outer = _state()
    _set_state(_below_adinplaceorview[_outer])
    try:
        _result = _redispatch_operators.mul_Tensor(_after_autograd[_keyset], self, other)
    finally:
        _set_state(_outer)
    _set_history(_node, _result)
    return _result
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.differentiability import (
    AutogradPlan,
    DifferentiabilityInfo,
    TensorArgument,
)
from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed, quote, tuple_display, tuple_text
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.nodes import kept, saved_input, saved_result


@dataclass(frozen=True, slots=True)
class KernelView:
    """One generated kernel; `lines` is its body. `expression` is what is registered."""

    name: str
    parameters: str
    returns: str
    lines: tuple[str, ...]
    register: str


def register_line(overload: Overload, expression: str, *, keyset: bool = True) -> str:
    items = [
        quote(overload.schema.local_name),
        expression,
        *(["with_keyset=True"] if keyset else []),
    ]
    return bracketed(f"{identifier(overload.names.namespace)}.impl(", items)


def parameters_of(overload: Overload) -> str:
    lines = ["_keyset: DispatchKeySet", *python.parameters(overload.schema)]
    return python.signature(lines)


def _below(guard: str, call: Sequence[str]) -> Iterator[str]:
    """A call under a local state that excludes keys. A guard's `with` would cost three times as much."""
    yield "_outer = _state()"
    yield f"_set_state({guard}[_outer])"
    yield "try:"
    yield from (f"    {line}" for line in call)
    yield "finally:"
    yield "    _set_state(_outer)"


def redispatch_call(overload: Overload, head: str, table: str, *, indent: int) -> list[str]:
    """`head` (`return `, `_result = `) and the call below, laid out."""
    items = [f"{table}[_keyset]", *python.forwarded(overload.schema)]
    text = bracketed(f"{head}{overload.names.redispatch_stub}(", items, indent=indent)
    return text.split("\n" + " " * indent)


def _autograd(overload: Overload, lines: Iterable[str]) -> KernelView:
    return _kernel(f"autograd_{overload.names.flat}", overload, lines)


def _kernel(name: str, overload: Overload, lines: Iterable[str]) -> KernelView:
    returns = python.returns_annotation(python.returns(overload.schema.returns))
    register = register_line(overload, name)
    return KernelView(name, parameters_of(overload), returns, tuple(lines), register)


def autograd_kernel(
    overload: Overload, plan: AutogradPlan, info: DifferentiabilityInfo
) -> KernelView:
    """The kernel of a functional, in-place or view operator with formulas."""
    lines = [*_needs(info), *_unrecorded(overload, plan), *_recorded(overload, plan, info)]
    return _autograd(overload, lines)


def out_kernel(overload: Overload, plan: AutogradPlan, info: DifferentiabilityInfo) -> KernelView:
    """The kernel of an out variant, which is refused where it would have to be recorded."""
    out = {argument.name for argument in overload.schema.out}
    arguments = [*info.slots, *(tensor for tensor in plan.tensors if tensor.name in out)]
    tensors = [f"{'*' * a.is_list}{identifier(a.name)}" for a in arguments]
    items = [quote(overload.names.base), f"({', '.join(tensors)}{',' * (len(tensors) == 1)})"]
    lines = bracketed("_refuse_out(", items, indent=4).split("\n    ")
    return _autograd(
        overload, [*lines, *redispatch_call(overload, "return ", "_after_autograd", indent=4)]
    )


def passing_kernel(overload: Overload, plan: AutogradPlan) -> KernelView:
    """The kernel of an operator that isn't differentiable and whose kernel calls other operators.

    Those must not record what they do, and what they return is no view as far as history goes.
    """
    guard = "_below_autograd" if plan.versioned else "_below_adinplaceorview"
    inner = redispatch_call(overload, "return ", "_after_autograd", indent=8)
    return _autograd(overload, _below(guard, inner))


def _need(slot: TensorArgument) -> str:
    name = identifier(slot.name)
    if slot.is_list:
        return f"_needs_grad({name})"
    return f"{name}._requires_grad" if slot.carries == "T" else f"_needs_grad(({name},))"


def _tuple_lines(head: str, items: Sequence[str]) -> Iterator[str]:
    text = f"{head}{tuple_display(items)}"
    if len(text) <= 84:
        yield text
        return
    yield f"{head}("
    yield from (f"    {item}," for item in items)
    yield ")"


def _needs(info: DifferentiabilityInfo) -> Iterator[str]:
    return _tuple_lines("_needs = ", [_need(slot) for slot in info.slots])


def _unrecorded(overload: Overload, plan: AutogradPlan) -> Iterator[str]:
    """The way of a call that is not recorded: on to the next key.

    Kernels made of other operators run below ADInplaceOrView, so that their result doesn't count as a
    view of something that only they know.
    """
    yield "if True not in _needs or not _grad_enabled():"
    kind = overload.schema.kind()
    if plan.is_composed and kind is SchemaKind.functional and not plan.is_view:
        lines = redispatch_call(overload, "return ", "_after_autograd", indent=12)
        yield from (f"    {line}" for line in _below("_below_adinplaceorview", lines))
    else:
        lines = redispatch_call(overload, "return ", "_after_autograd", indent=8)
        yield from (f"    {line}" for line in lines)


def _recorded(overload: Overload, plan: AutogradPlan, info: DifferentiabilityInfo) -> Iterator[str]:
    is_inplace = overload.schema.kind() is SchemaKind.inplace
    if is_inplace:
        yield "_check_inplace_history(self)"
    yield from _node(info)
    inputs = [saved_input(saved, is_inplace) for saved in kept(info) if saved.result is None]
    if inputs:
        yield from _tuple_lines("_node.saved = ", inputs)
    guard = "_below_autograd" if plan.is_view or is_inplace else "_below_adinplaceorview"
    head = "" if is_inplace else "_result = "
    yield from _below(guard, redispatch_call(overload, head, "_after_autograd", indent=8))
    yield from _finish(overload, info, is_inplace)


def _node(info: DifferentiabilityInfo) -> Iterator[str]:
    """The node, with an edge for each tensor."""
    items = [
        f"*_edges_of({identifier(s.name)})" if s.is_list else f"_edge_of({identifier(s.name)})"
        for s in info.slots
    ]
    arguments = [tuple_text(items, indent=8), "_needs"]
    yield from bracketed(f"_node = {info.node_name}(", arguments, indent=4).split("\n    ")


def _finish(overload: Overload, info: DifferentiabilityInfo, is_inplace: bool) -> Iterator[str]:
    """Results become the node's outputs, and those that backward needs are kept."""
    returns = overload.schema.returns
    values = [f"_result[{index}]" for index in range(len(returns))]
    if is_inplace or len(returns) == 1:
        values = ["self" if is_inplace else "_result"]
    if is_inplace:
        yield "_rebase_history(_node, self)"
    elif len(returns) > 1:
        yield f"_set_histories(_node, {tuple_display([values[i] for i in info.outputs])})"
    else:
        several = isinstance(returns[0].type, ListType)
        yield f"_set_{'histories' if several else 'history'}(_node, _result)"
    saved = [
        saved_result(one, info, values[one.result]) for one in kept(info) if one.result is not None
    ]
    if saved:
        yield f"_node.keep({', '.join(saved)})"
    yield "return self" if is_inplace else "return _result"


def view_kernel(overload: Overload) -> KernelView:
    """The ADInplaceOrView kernel of a view: its result remembers how it was made."""
    call = f"return {overload.names.stub}("
    items = ["_base", *python.forwarded(overload.schema)[1:]]
    inner = redispatch_call(overload, "_result = ", "_after_adinplaceorview", indent=8)
    lines = list(_below("_below_adinplaceorview", inner))
    lines += ["", "def _replay(_base: Tensor) -> Any:"]
    lines += [f"    {line}" for line in bracketed(call, items, indent=8).split("\n        ")]
    several = isinstance(overload.schema.returns[0].type, ListType)
    own = identifier(overload.schema.arguments[0].name)
    lines += ["", f"return {'_as_views' if several else '_as_view'}({own}, _result, _replay)"]
    return _adinplaceorview(overload, lines)


def untracked_kernel(overload: Overload) -> KernelView:
    """The ADInplaceOrView kernel of a view without a derivative: views that its kernel calls don't count."""
    inner = redispatch_call(overload, "return ", "_after_adinplaceorview", indent=8)
    return _adinplaceorview(overload, list(_below("_below_adinplaceorview", inner)))


def written_kernel(overload: Overload, plan: AutogradPlan) -> KernelView:
    """The ADInplaceOrView kernel of an operator that writes: the versions of what it wrote go up."""
    inner = redispatch_call(overload, "_result = ", "_after_adinplaceorview", indent=8)
    lines = list(_below("_below_adinplaceorview", inner))
    lines += [f"_bump_version({identifier(name)})" for name in plan.versioned]
    return _adinplaceorview(overload, [*lines, "return _result"])


def _adinplaceorview(overload: Overload, lines: Iterable[str]) -> KernelView:
    return _kernel(f"adinplaceorview_{overload.names.flat}", overload, lines)
