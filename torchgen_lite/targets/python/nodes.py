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
    SavedAttribute,
    differentiable_outputs,
    return_names,
)
from torchgen_lite.analysis.differentiability.saved import fact_of
from torchgen_lite.dialects.python_formula import Writer
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.schema import FunctionSchema, ListType
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.formula import Expression, Name, walk

# How a fact about a tensor is read when the call is recorded.
_READ = {
    "args_scalartypes": "[_t._dtype for _t in {0}]",
    "args_sizes": "[_t._shape for _t in {0}]",
    "device": "{0}._device",
    "dim": "len({0}._shape)",
    "dtype": "{0}._dtype",
    "info": "_output_of({0})",
    "layout": "{0}.layout",
    "ndim": "len({0}._shape)",
    "numel": "{0}.numel()",
    "scalar_type": "{0}._dtype",
    "shape": "{0}._shape",
    "sym_numel": "{0}.numel()",
    "sym_sizes": "{0}._shape",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that a node keeps. `needed` are the gradients that use it; empty means all."""

    attribute: SavedAttribute
    kind: str
    needed: tuple[int, ...]
    index: int = -1

    @property
    def local(self) -> str:
        """Its name in the formula."""
        return identifier(self.attribute.name)

    def read(self, value: str) -> str:
        """The expression that is kept, of a tensor or value."""
        attribute = self.attribute
        if attribute.is_whole:
            if self.kind in ("L", "P"):
                return f"_save_list({value})"
            if self.kind == "O":
                return f"_save_optional({value})"
            return f"_save({value})" if self.kind == "T" else value
        suffix = attribute.name.removeprefix(f"{attribute.source}_")
        if suffix.startswith("sym_argsize_"):
            index = suffix.removeprefix("sym_argsize_").replace("minus_", "-")
            return f"{value}._shape[{index}]"
        return _READ[suffix.removesuffix("_symint")].format(value)

    def expression(self, is_inplace: bool) -> str:
        """What is kept of an input, before the call."""
        value = identifier(self.attribute.source)
        if is_inplace and value == "self" and self.attribute.is_whole:
            value = "_original(self)"
        text = self.read(value)
        if not self.needed or not text.startswith("_save"):
            return text
        return f"{text} if {' or '.join(f'_needs[{i}]' for i in self.needed)} else None"

    def result_expression(self, outputs: Sequence[int], count: int, is_inplace: bool) -> str:
        """What is kept of a result, after the call."""
        value = "self" if is_inplace else "_result" if count == 1 else f"_result[{self.index}]"
        if self.attribute.is_whole and self.index in outputs:
            return f"_save_result({value}, {list(outputs).index(self.index)})"
        return self.read(value)


def saved_facts(
    info: DifferentiabilityInfo, schema: FunctionSchema
) -> tuple[list[Fact], list[Fact]]:
    """What a node keeps: of the inputs, then of the results. Locals of `apply` come in this order."""
    kinds = {a.name: dispatch_kind(a.type) for a in info.function.func.arguments}
    inputs = [
        Fact(saved, kinds[saved.source], _needed(info, saved.name)) for saved in info.saved_inputs
    ]
    names = return_names(info.function.func)
    results = [Fact(saved, "T", (), names.index(saved.source)) for saved in info.saved_outputs]
    return inputs, results


def _needed(info: DifferentiabilityInfo, name: str) -> tuple[int, ...]:
    """The gradients whose formulas use a saved value; empty if any gradient does."""
    used = [d for d in info.derivatives if any(s.name == name for s in d.saved_inputs)]
    indices = {info.arguments.index(n) for d in used for n in d.names}
    return () if len(indices) == len(info.arguments) else tuple(sorted(indices))


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


def node_view(info: DifferentiabilityInfo, functions: Functions) -> NodeView:
    """The class for one entry with formulas."""
    schema = info.function.func
    values = {a.name for a in schema.arguments} | set(return_names(schema))

    def fact(node: Expression) -> str | None:
        found = fact_of(node, values)
        if found is None:
            return None
        name = identifier(found.name)
        return f"_zeros({name})" if found.name.endswith("_info") else name

    numbers = frozenset(a.name for a in schema.arguments if str(a.type) == "Scalar")
    writer = Writer(functions.expression, fact, numbers)
    lines = [*_unpack(info, schema), *_gradients(info, schema)]
    for derivative in info.derivatives:
        lines += _derivative(info, derivative, writer)
    lines.append(f"return {_returned(info, schema)}")
    return NodeView(info.node_name, schema.full_name, tuple(lines))


def _unpack(info: DifferentiabilityInfo, schema: FunctionSchema) -> Iterator[str]:
    inputs, results = saved_facts(info, schema)
    names = [fact.local for fact in (*inputs, *results)]
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


def _gradients(info: DifferentiabilityInfo, schema: FunctionSchema) -> Iterator[str]:
    """`grad`, `grads` or `grad_NAME`, whichever the formulas use."""
    used = _names(info)
    outputs = differentiable_outputs(schema, info)
    many = len(outputs) > 1 or any(isinstance(r.type, ListType) for r in schema.returns)
    if many and (info.used_gradients or "grads" in used):
        yield "grads = node.materialize(grads)"
    if "grad" in used:
        yield "grad: Any = grads[0]"
    names = return_names(schema)
    for position, index in enumerate(outputs):
        if f"grad_{names[index]}" in info.used_gradients:
            yield f"grad_{names[index]}: Any = grads[{position}]"


def _names(info: DifferentiabilityInfo) -> set[str]:
    return {
        node.text
        for derivative in info.derivatives
        if derivative.formula.expression is not None
        for node in walk(derivative.formula.expression)
        if isinstance(node, Name)
    }


def _derivative(
    info: DifferentiabilityInfo, derivative: Derivative, writer: Writer
) -> Iterator[str]:
    expression = derivative.formula.expression
    assert expression is not None
    indices = [info.arguments.index(name) for name in derivative.names]
    used = {node.text for node in walk(expression) if isinstance(node, Name)}
    if "grad_input_mask" in used:
        mask = ", ".join(f"node.needs[{i}]" for i in indices)
        yield f"grad_input_mask = ({mask}{',' if len(indices) == 1 else ''})"
    targets = [f"grad_{identifier(name)}_" for name in derivative.names]
    if len(info.arguments) == 1:
        yield from writer.lines(f"{targets[0]}: Any", expression, indent=8)
    elif len(targets) > 1:
        yield from writer.lines(", ".join(targets), expression, indent=8)
    else:
        yield f"{targets[0]}: Any = None"
        yield f"if node.needs[{indices[0]}]:"
        yield from (f"    {line}" for line in writer.lines(targets[0], expression, indent=12))


def _returned(info: DifferentiabilityInfo, schema: FunctionSchema) -> str:
    """A gradient for each edge: lists of tensors have as many edges as elements."""
    kinds = {a.name: dispatch_kind(a.type) for a in schema.arguments}
    items = [
        f"{'*' if kinds[name] in ('L', 'P') else ''}grad_{identifier(name)}_"
        for name in info.arguments
    ]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
