"""Formulas whose nodes know their kind, what is saved for them, and which operator they call.

A single bottom-up pass builds the tree, so that code that prints it computes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import argument_layout, is_tensor_like
from torchgen_lite.analysis.differentiability.facts import Saved, saved_by
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.formulas import called_name, children, kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import Kind, Sort
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, SchemaKind
from torchgen_lite.schema.model import bare_type

_CONSTANTS = frozenset({"True", "False", "true", "false"})
_ATTRIBUTES = {
    "device": kinds.DEVICE,
    "dtype": kinds.DTYPE,
    "layout": kinds.LAYOUT,
    "ndim": kinds.INT,
    "requires_grad": kinds.BOOL,
    "shape": kinds.SYMINTS,
}
# Methods of tensors, and of symbolic sizes, whose result is not a tensor.
_METHODS = {
    "defined": kinds.BOOL,
    "dim": kinds.INT,
    "expect_int": kinds.INT,
    "is_complex": kinds.BOOL,
    "is_floating_point": kinds.BOOL,
    "item": kinds.SCALAR,
    "numel": kinds.SYMINT,
    "scalar_type": kinds.DTYPE,
    "size": kinds.SYMINT,
    "sizes": kinds.SYMINTS,
    "stride": kinds.SYMINT,
    "suggest_memory_format": kinds.MEMORY_FORMAT,
    "sym_numel": kinds.SYMINT,
    "sym_size": kinds.SYMINT,
    "sym_sizes": kinds.SYMINTS,
    "sym_strides": kinds.SYMINTS,
}
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})

Operators = Mapping[str, Sequence[NativeFunction]]


class Typed(NamedTuple):
    """A node with its operands, in the order of `children`.

    `saved` is what replaces the node in backward, and `operator` the overload that it calls, if one
    is declared.
    """

    node: nodes.Expression
    kind: Kind
    parts: tuple[Typed, ...] = ()
    saved: Saved | None = None
    operator: NativeFunction | None = None

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, nodes.Name) and self.node.text == "None"


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of a formula's names, the values to save for them, and the known operators."""

    kinds: Mapping[str, Kind]
    values: Mapping[str, Saved]
    operators: Operators = field(default_factory=dict)


def callable_operators(functions: Sequence[NativeFunction]) -> Operators:
    """The operators that formulas may call, by base name. The project's own hide PyTorch's."""
    own: dict[str, list[NativeFunction]] = {}
    torch: dict[str, list[NativeFunction]] = {}
    for function in functions:
        if function.func.kind() is not SchemaKind.out:
            found = torch if function.namespace in TORCH_NAMESPACES else own
            found.setdefault(function.func.base_name, []).append(function)
    return torch | own


def is_own(function: NativeFunction) -> bool:
    """Whether an operator does not belong to PyTorch."""
    return function.namespace not in TORCH_NAMESPACES


def by_position(function: NativeFunction, count: int = 0) -> tuple[Argument | None, ...]:
    """The arguments that formulas pass by position, as in C++: keyword-only ones too.

    None stands for the tensor options of a PyTorch operator, which are one argument; C++ also takes
    them separately if all `count` arguments are given. Python callers may spread a last list of
    numbers; only keywords follow one.
    """
    if spreads(function.func):
        return function.func.positional
    layout = argument_layout(function.func)
    if layout.options is None or count == len(layout.inputs):
        return layout.inputs
    before = layout.positional + layout.before_options
    return before if is_own(function) else (*before, None, *layout.after_options)


def spreads(schema: FunctionSchema) -> bool:
    """Whether the last positional argument is a list of numbers, which Python callers may spread."""
    last = schema.positional[-1:]
    return bool(last) and str(last[0].type) in ("int[]", "SymInt[]")


def every_part(tree: Typed) -> Iterator[Typed]:
    """Every node of a formula, outermost first."""
    yield tree
    for part in tree.parts:
        yield from every_part(part)


def sure_kind(tree: Typed, scope: Scope) -> Kind:
    """The kind of a value if it is certain. Elsewhere, undeclared functions count as tensors."""
    node = tree.node
    if isinstance(node, nodes.Name):
        return tree.kind if node.text in scope.kinds or node.text == "grad" else kinds.UNKNOWN
    if isinstance(node, nodes.ListDisplay):
        return kinds.TENSORS
    if isinstance(node, nodes.Call):
        returns = tree.operator.func.returns if tree.operator is not None else ()
        return kinds.kind_of_type(returns[0].type) if len(returns) == 1 else kinds.UNKNOWN
    if isinstance(node, (nodes.Binary, nodes.Unary)):
        parts = [sure_kind(part, scope).present for part in tree.parts]
        rest = [part for part in parts if not part.is_number]
        return kinds.TENSOR if set(rest) == {kinds.TENSOR} else kinds.UNKNOWN
    return tree.kind if isinstance(node, nodes.Literal) else kinds.UNKNOWN


def saved_in(tree: Typed) -> Iterator[Saved]:
    """What a formula saves, in order of appearance."""
    if tree.saved is not None:
        yield tree.saved
        return
    for part in tree.parts:
        yield from saved_in(part)


def type_formula(node: nodes.Expression, scope: Scope) -> Typed:
    """The tree of a formula with kinds; see Note [Kinds in formulas]."""
    parts = tuple(type_formula(child, scope) for child in children(node))
    saved = saved_by(node, scope.values)
    if saved is not None and not saved.is_whole:
        return Typed(node, saved.fact.kind, parts, saved)
    if isinstance(node, nodes.Call):
        operator = _operator(node, parts, scope.operators)
        return Typed(node, _call_kind(node, parts, operator), parts, None, operator)
    return Typed(node, _kind(node, parts, scope), parts, saved)


def _kind(node: nodes.Expression, parts: Sequence[Typed], scope: Scope) -> Kind:
    match node:
        case nodes.Name(text):
            known = kinds.UNKNOWN if text == "None" or "::" in text else kinds.TENSOR
            return kinds.BOOL if text in _CONSTANTS else scope.kinds.get(text, known)
        case nodes.Literal(text):
            if text[:1] in "'\"":
                return kinds.STRING
            is_float = any(character in text for character in ".e")
            return kinds.FLOAT if is_float and not text.startswith("0x") else kinds.INT
        case nodes.Member(_, name, arrow):
            return kinds.UNKNOWN if arrow else _ATTRIBUTES.get(name, kinds.TENSOR)
        case nodes.Subscript():
            value = parts[0].kind
            return value.element if value.is_list and value.is_known else kinds.TENSOR
        case nodes.ListDisplay():
            return _list_kind([part.kind for part in parts])
        case nodes.Unary(operator):
            return kinds.BOOL if operator == "!" else parts[0].kind.present
        case nodes.Conditional():
            _, yes, no = parts
            return no.kind if yes.is_none else yes.kind
        case nodes.Binary(operator):
            return _binary_kind(operator, parts[0].kind.present, parts[1].kind.present)
    return kinds.UNKNOWN


def _list_kind(items: Sequence[Kind]) -> Kind:
    """A list with a symbolic integer is a list of symbolic integers."""
    if kinds.SYMINT in items:
        return kinds.SYMINTS
    sort = items[0].sort if len(set(items)) == 1 else Sort.unknown
    return Kind(sort, is_list=True)


def _binary_kind(operator: str, left: Kind, right: Kind) -> Kind:
    if not (left.is_number and right.is_number):
        return kinds.BOOL if operator in ("&&", "||") else kinds.TENSOR
    sorts = {left.sort, right.sort}
    if operator in _COMPARISONS:
        return kinds.BOOL
    if sorts & {Sort.float, Sort.scalar} or (operator == "/" and Sort.bool not in sorts):
        return kinds.FLOAT
    return kinds.SYMINT if Sort.symint in sorts else kinds.INT


def _call_kind(node: nodes.Call, parts: Sequence[Typed], operator: NativeFunction | None) -> Kind:
    if operator is not None and is_own(operator):
        types = [bare_type(value.type) for value in operator.func.returns]
        return kinds.TENSOR if types == ["Tensor"] else kinds.UNKNOWN
    if isinstance(node.function, nodes.Member):
        return _method_kind(node.function.name, parts[0].kind, bool(node.arguments))
    return kinds.TENSOR


def _method_kind(name: str, value: Kind, has_arguments: bool) -> Kind:
    if name == "conj":
        return value
    if name == "size" and value.is_list and not has_arguments:
        return kinds.INT
    # `size(0)` is a number; `size()` and `stride()` are lists.
    if name in ("size", "stride") and not has_arguments:
        return kinds.SYMINTS
    return _METHODS.get(name, kinds.TENSOR)


def _operator(
    node: nodes.Call, parts: Sequence[Typed], operators: Operators
) -> NativeFunction | None:
    """The overload that fits the argument count, the keywords and most kinds; else the first."""
    name = called_name(node)
    if isinstance(node.function, nodes.Member):
        name = node.function.name
    overloads = operators.get(name or "", ())
    if overloads and is_own(overloads[0]):
        is_qualified = isinstance(node.function, nodes.Name) and "::" in node.function.text
        if is_qualified or (
            isinstance(node.function, nodes.Member) and parts[0].kind != kinds.TENSOR
        ):
            return None
    keywords = [key for key, _ in node.keywords]
    given = parts[: len(parts) - len(keywords)]
    fitting = [f for f in overloads if _takes(f, len(given), keywords)]
    if not fitting:
        return overloads[0] if overloads else None
    return min(fitting, key=lambda function: _misfits(function, given))


def _takes(function: NativeFunction, count: int, keywords: Sequence[str]) -> bool:
    positions = by_position(function, count)
    given = {argument.name for argument in positions[:count] if argument is not None}
    names = {argument.name for argument in function.func.arguments}
    return count <= len(positions) and set(keywords) <= names - given


def _misfits(function: NativeFunction, given: Sequence[Typed]) -> int:
    """How many arguments are tensors where none is expected, or vice versa, as far as is known."""
    return sum(
        (part.kind.sort is Sort.tensor) != is_tensor_like(argument.type)
        for part, argument in zip(given, by_position(function, len(given)))
        if argument is not None and part.kind.sort is not Sort.unknown
    )
