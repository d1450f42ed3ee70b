"""The nodes of `register_autograd.py`: what each keeps, and its formulas as the body of `apply`.

class MulBackward0(_Node):
    __slots__ = ()

    def apply(node, grads: _Gradients) -> _Gradients:
        self, other = node.unpack()
        grad: Any = grads[0]
        grad_self: Any = None
        if node.needs[0]:
            grad_self = grad * other
        ...
        return (grad_self, grad_other)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.differentiability import (
    Derivative,
    DifferentiabilityInfo,
    Fact,
    Saved,
    return_names,
)
from torchgen_lite.dialects.python_formula import Words, in_python, write
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import tuple_display
from torchgen_lite.schema import ListType
from torchgen_lite.schema.formula import Call, Conditional, Expression, Member, Name
from torchgen_lite.schema.formula.kinds import SCALAR, Kind

# How a fact about a tensor is read when the call is recorded.
_READ = {
    Fact.args_scalartypes: "[_t._dtype for _t in {0}]",
    Fact.args_sizes: "[_t._shape for _t in {0}]",
    Fact.args_sizes_symint: "[_t._shape for _t in {0}]",
    Fact.device: "{0}._device",
    Fact.dim: "len({0}._shape)",
    Fact.dtype: "{0}._dtype",
    Fact.info: "_output_of({0})",
    Fact.layout: "{0}.layout",
    Fact.ndim: "len({0}._shape)",
    Fact.numel: "{0}.numel()",
    Fact.scalar_type: "{0}._dtype",
    Fact.shape: "{0}._shape",
    Fact.size: "{0}._shape[{1}]",
    Fact.sym_numel: "{0}.numel()",
    Fact.sym_sizes: "{0}._shape",
}
# How a whole value is kept.
_SAVE = {"T": "_save({0})", "O": "_save_optional({0})", **dict.fromkeys("LP", "_save_list({0})")}


def kept(info: DifferentiabilityInfo) -> tuple[Saved, ...]:
    """What a node keeps, in the order of the locals of `apply`."""
    return info.kept(_READ)


def _read(saved: Saved, value: str) -> str:
    how = _SAVE.get(saved.carries, "{0}") if saved.is_whole else _READ[saved.fact]
    return how.format(value, saved.dim)


def saved_input(saved: Saved, is_inplace: bool) -> str:
    """What is kept of an input, before the call."""
    value = identifier(saved.source)
    if is_inplace and value == "self" and saved.is_whole:
        value = "_original(self)"
    text = _read(saved, value)
    if not saved.needed_by or not saved.keeps_tensors:
        return text
    return f"{text} if {' or '.join(f'_needs[{i}]' for i in saved.needed_by)} else None"


def saved_result(saved: Saved, info: DifferentiabilityInfo, value: str) -> str:
    """What is kept of a result, after the call."""
    if saved.is_whole and saved.result in info.outputs:
        return f"_save_result({value}, {info.outputs.index(saved.result)})"
    return _read(saved, value)


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node class: its name, what it stands for, and the body of its `apply`."""

    name: str
    operator: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Functions:
    """Where the functions of formulas are: helper modules by function, and names of operators."""

    helpers: dict[str, str]

    def expression(self, name: str) -> str:
        if name in self.helpers:
            return f"_{self.helpers[name].rpartition('.')[2]}.{name}"
        return f"_functions.{identifier(name)}"


def _local(saved: Saved) -> Expression | None:
    if not saved.is_whole and saved.fact not in _READ:
        return None
    name = Name(identifier(saved.name))
    return Call(Name("_zeros"), (name,)) if saved.fact is Fact.info else name


def conjugate(value: Expression, kind: Kind) -> Expression:
    """The conjugate of a number; of a tensor what the framework's `conj` makes of it.

    That of a name asks for the type first, so that it costs next to nothing for real tensors.
    """
    if kind == SCALAR:
        return Call(Member(value, "conjugate"), ())
    conjugated = Call(Name("_conj"), (value,))
    if not isinstance(value, Name):
        return conjugated
    return Conditional(Member(Member(value, "_dtype"), "is_complex"), conjugated, value)


def node_view(info: DifferentiabilityInfo, functions: Functions) -> NodeView:
    """The class for one entry with formulas."""
    words = Words(functions.expression, _local, conjugate)
    lines = [*_unpack(kept(info)), *_gradients(info)]
    for derivative in info.derivatives:
        lines += _derivative(info, derivative, words)
    items = [f"{'*' * slot.is_list}grad_{identifier(slot.name)}_" for slot in info.slots]
    lines.append(f"return {tuple_display(items)}")
    return NodeView(info.node_name, info.function.func.full_name, tuple(lines))


def _unpack(kept: Sequence[Saved]) -> Iterator[str]:
    names = [identifier(saved.name) for saved in kept]
    if not names:
        return
    if len(names) == 1:
        yield f"({names[0]},) = node.unpack()"
        return
    text = f"{', '.join(names)} = node.unpack()"
    if len(text) <= 80:
        yield text
        return
    yield "("
    yield from (f"    {name}," for name in names)
    yield ") = node.unpack()"


def _gradients(info: DifferentiabilityInfo) -> Iterator[str]:
    """`grad`, `grads` or `grad_NAME`, whichever the formulas use."""
    schema = info.function.func
    many = len(info.outputs) > 1 or any(isinstance(r.type, ListType) for r in schema.returns)
    if many and (info.used_gradients or "grads" in info.mentioned):
        yield "grads = node.materialize(grads)"
    if "grad" in info.mentioned:
        yield "grad: Any = grads[0]"
    names = return_names(schema)
    for position, index in enumerate(info.outputs):
        if f"grad_{names[index]}" in info.used_gradients:
            yield f"grad_{names[index]}: Any = grads[{position}]"


def _derivative(info: DifferentiabilityInfo, derivative: Derivative, words: Words) -> Iterator[str]:
    value = write(in_python(derivative.tree, words))
    needs = [f"node.needs[{info.arguments.index(name)}]" for name in derivative.names]
    if "grad_input_mask" in derivative.mentioned:
        yield f"grad_input_mask = {tuple_display(needs)}"
    targets = [f"grad_{identifier(name)}_" for name in derivative.names]
    if len(info.slots) == 1:
        yield f"{targets[0]}: Any = {value}"
    elif len(targets) > 1:
        yield f"{', '.join(targets)} = {value}"
    else:
        yield f"{targets[0]}: Any = None"
        yield f"if {needs[0]}:"
        yield f"    {targets[0]} = {value}"
