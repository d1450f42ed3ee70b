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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.derive.views import is_aliasing
from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    differentiable_outputs,
)
from torchgen_lite.analysis.dispatch_index import effective_dispatch
from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed, quote, tuple_text
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.nodes import Fact, saved_facts

TENSORS = frozenset("TOLP")


@dataclass(frozen=True, slots=True)
class KernelView:
    """One generated kernel; `lines` is its body. `expression` is what is registered."""

    name: str
    parameters: str
    returns: str
    lines: tuple[str, ...]
    register: str


def is_composite_implicit(overload: Overload) -> bool:
    """Whether the operator has only kernels that autograd sees through."""
    keys = {entry.key for entry in effective_dispatch(overload.function)}
    return keys == {"CompositeImplicitAutograd"}


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


def autograd_kernel(overload: Overload, info: DifferentiabilityInfo) -> KernelView:
    """The kernel of a functional, in-place or view operator with formulas."""
    kinds = {a.name: dispatch_kind(a.type) for a in overload.schema.arguments}
    lines = [*_needs(info, kinds), *_unrecorded(overload), *_recorded(overload, info, kinds)]
    return KernelView(
        f"autograd_{overload.names.flat}",
        parameters_of(overload),
        python.returns_annotation(python.returns(overload.schema.returns)),
        tuple(lines),
        register_line(overload, f"autograd_{overload.names.flat}"),
    )


def out_kernel(overload: Overload, info: DifferentiabilityInfo) -> KernelView:
    """The kernel of an out variant, which is refused where it would have to be recorded."""
    kinds = {a.name: dispatch_kind(a.type) for a in overload.schema.arguments}
    tensors = _flat([*info.arguments, *(a.name for a in overload.schema.out)], kinds)
    name = quote(overload.names.base)
    lines = bracketed("_refuse_out(", [name, f"({', '.join(tensors)})"], indent=4).split("\n    ")
    lines += redispatch_call(overload, "return ", "_after_autograd", indent=4)
    return KernelView(
        f"autograd_{overload.names.flat}",
        parameters_of(overload),
        python.returns_annotation(python.returns(overload.schema.returns)),
        tuple(lines),
        register_line(overload, f"autograd_{overload.names.flat}"),
    )


def passing_kernel(overload: Overload) -> KernelView:
    """The kernel of an operator that isn't differentiable and whose kernel calls other operators.

    Those must not record what they do, and what they return is no view as far as history goes.
    """
    guard = "_below_autograd" if writes(overload) else "_below_adinplaceorview"
    inner = redispatch_call(overload, "return ", "_after_autograd", indent=8)
    return KernelView(
        f"autograd_{overload.names.flat}",
        parameters_of(overload),
        python.returns_annotation(python.returns(overload.schema.returns)),
        tuple(_below(guard, inner)),
        register_line(overload, f"autograd_{overload.names.flat}"),
    )


def writes(overload: Overload) -> bool:
    """Whether the operator writes to a tensor."""
    return any(a.is_write and dispatch_kind(a.type) == "T" for a in overload.schema.arguments)


def is_composed(overload: Overload) -> bool:
    """Whether a kernel of the operator is made of other operators."""
    keys = {entry.key for entry in effective_dispatch(overload.function)}
    return any(key.startswith("CompositeExplicit") for key in keys)


def _flat(names: Sequence[str], kinds: Mapping[str, str]) -> list[str]:
    """Tensors as items of a display, lists of them starred."""
    items = [f"*{identifier(n)}" if kinds.get(n) in ("L", "P") else identifier(n) for n in names]
    return [*items, ""] if len(items) == 1 else items


def _tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _need(name: str, kind: str) -> str:
    name = identifier(name)
    if kind in ("L", "P"):
        return f"_needs_grad({name})"
    return f"{name}._requires_grad" if kind == "T" else f"_needs_grad(({name},))"


def _needs(info: DifferentiabilityInfo, kinds: Mapping[str, str]) -> Iterator[str]:
    items = [_need(name, kinds[name]) for name in info.arguments]
    text = f"_needs = {_tuple(items)}"
    if len(text) <= 84:
        yield text
        return
    yield "_needs = ("
    yield from (f"    {item}," for item in items)
    yield ")"


def _unrecorded(overload: Overload) -> Iterator[str]:
    """The way of a call that is not recorded: on to the next key.

    Kernels made of other operators run below ADInplaceOrView, so that their result doesn't count as a
    view of something that only they know.
    """
    yield "if True not in _needs or not _grad_enabled():"
    kind = overload.schema.kind()
    if is_composed(overload) and kind is SchemaKind.functional and not is_aliasing(overload.schema):
        lines = redispatch_call(overload, "return ", "_after_autograd", indent=12)
        yield from (f"    {line}" for line in _below("_below_adinplaceorview", lines))
    else:
        lines = redispatch_call(overload, "return ", "_after_autograd", indent=8)
        yield from (f"    {line}" for line in lines)


def _recorded(
    overload: Overload, info: DifferentiabilityInfo, kinds: Mapping[str, str]
) -> Iterator[str]:
    schema = overload.schema
    is_inplace = schema.kind() is SchemaKind.inplace
    if is_inplace:
        yield "_check_inplace_history(self)"
    yield from _node(info, kinds)
    inputs, results = saved_facts(info, schema)
    if inputs:
        yield from _saved(inputs, is_inplace)
    is_view = is_aliasing(schema)
    guard = "_below_autograd" if is_view or is_inplace else "_below_adinplaceorview"
    head = "" if is_inplace else "_result = "
    yield from _below(guard, redispatch_call(overload, head, "_after_autograd", indent=8))
    yield from _finish(overload, info, results, is_inplace)


def _node(info: DifferentiabilityInfo, kinds: Mapping[str, str]) -> Iterator[str]:
    """The node, with an edge for each tensor."""
    items = [
        f"*_edges_of({identifier(n)})" if kinds[n] in ("L", "P") else f"_edge_of({identifier(n)})"
        for n in info.arguments
    ]
    arguments = [tuple_text(items, indent=8), "_needs"]
    yield from bracketed(f"_node = {info.node_name}(", arguments, indent=4).split("\n    ")


def _saved(facts: Sequence[Fact], is_inplace: bool) -> Iterator[str]:
    items = [fact.expression(is_inplace) for fact in facts]
    text = f"_node.saved = {_tuple(items)}"
    if len(text) <= 84:
        yield text
        return
    yield "_node.saved = ("
    yield from (f"    {item}," for item in items)
    yield ")"


def _finish(
    overload: Overload, info: DifferentiabilityInfo, results: Sequence[Fact], is_inplace: bool
) -> Iterator[str]:
    """Results become the node's outputs, and those that backward needs are kept."""
    schema = overload.schema
    outputs = differentiable_outputs(schema, info)
    saved = [fact.result_expression(outputs, len(schema.returns), is_inplace) for fact in results]
    if is_inplace:
        yield "_rebase_history(_node, self)"
    elif len(schema.returns) == 1 and isinstance(schema.returns[0].type, ListType):
        yield "_set_histories(_node, _result)"
    elif len(schema.returns) == 1:
        yield "_set_history(_node, _result)"
    else:
        yield f"_set_histories(_node, {_tuple([f'_result[{i}]' for i in outputs])})"
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


def written_kernel(overload: Overload) -> KernelView:
    """The ADInplaceOrView kernel of an operator that writes: the versions of what it wrote go up."""
    inner = redispatch_call(overload, "_result = ", "_after_adinplaceorview", indent=8)
    lines = list(_below("_below_adinplaceorview", inner))
    for argument in overload.schema.arguments:
        if argument.is_write and dispatch_kind(argument.type) == "T":
            lines.append(f"_bump_version({identifier(argument.name)})")
    lines.append("return _result")
    return _adinplaceorview(overload, lines)


def _adinplaceorview(overload: Overload, lines: Sequence[str]) -> KernelView:
    return KernelView(
        f"adinplaceorview_{overload.names.flat}",
        parameters_of(overload),
        python.returns_annotation(python.returns(overload.schema.returns)),
        tuple(lines),
        register_line(overload, f"adinplaceorview_{overload.names.flat}"),
    )
