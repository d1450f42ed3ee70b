"""The nodes of a formula. `str()` of a node is the formula, spaced as in C++ style.

Equality ignores spans, as in the model of schemas. Brackets are not kept: `str()` writes them where
the tree needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from torchgen_lite.diagnostics import Span

PRECEDENCE = {
    "||": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    "==": 7,
    "!=": 7,
    "<": 8,
    ">": 8,
    "<=": 8,
    ">=": 8,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
}
"""Binary operators by C++'s precedence; all bind to the left."""

CONSTANTS = frozenset({"True", "False", "true", "false", "None"})
"""Names to which no operator can give another meaning."""

UNARY_PRECEDENCE = 12
_POSTFIX_PRECEDENCE = 13


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, perhaps qualified or with template arguments: `at::where`, `std::get<0>`."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a string, as written."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Member:
    """`value.name`, or `value->name`."""

    value: Expression
    name: str
    arrow: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{_wrap(self.value, _POSTFIX_PRECEDENCE)}{'->' if self.arrow else '.'}{self.name}"


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments, name=value)`."""

    function: Expression
    arguments: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        items = [str(a) for a in self.arguments]
        items += [f"{name}={value}" for name, value in self.keywords]
        return f"{_wrap(self.function, _POSTFIX_PRECEDENCE)}({', '.join(items)})"


@dataclass(frozen=True, slots=True)
class Subscript:
    """`value[index]`."""

    value: Expression
    index: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{_wrap(self.value, _POSTFIX_PRECEDENCE)}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `!x`, `*x`, `+x`, `~x`."""

    operator: str
    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.operator}{_wrap(self.operand, UNARY_PRECEDENCE)}"


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        level = PRECEDENCE[self.operator]
        return f"{_wrap(self.left, level)} {self.operator} {_wrap(self.right, level + 1)}"


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{_wrap(self.test, 2)} ? {_wrap(self.yes, 2)} : {self.no}"


@dataclass(frozen=True, slots=True)
class ListDisplay:
    """`{a, b}` or `[a, b]`; `type` is the C++ type in front, if any, as in `at::IntArrayRef{}`."""

    items: tuple[Expression, ...]
    type: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.type}{{{', '.join(map(str, self.items))}}}"


@dataclass(frozen=True, slots=True)
class Lambda:
    """A C++ lambda, kept as text: nothing here looks inside."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


Expression = Union[
    Name,
    Literal,
    Member,
    Call,
    Subscript,
    Unary,
    Binary,
    Conditional,
    ListDisplay,
    Lambda,
]

_OPERANDS: dict[type, tuple[str, ...]] = {
    Member: ("value",),
    Subscript: ("value", "index"),
    Unary: ("operand",),
    Binary: ("left", "right"),
    Conditional: ("test", "yes", "no"),
}


def _level(node: Expression) -> int:
    if isinstance(node, Conditional):
        return 1
    if isinstance(node, Binary):
        return PRECEDENCE[node.operator]
    return UNARY_PRECEDENCE if isinstance(node, Unary) else _POSTFIX_PRECEDENCE


def _wrap(node: Expression, level: int) -> str:
    return str(node) if _level(node) >= level else f"({node})"


def children(node: Expression) -> tuple[Expression, ...]:
    """The operands of a node, in the order written.

    For a call these are the object, if it calls a method, and the arguments; the name of a function
    is not a value.
    """
    if isinstance(node, Call):
        return (*_called(node), *node.arguments, *(value for _, value in node.keywords))
    if isinstance(node, ListDisplay):
        return node.items
    return tuple([getattr(node, name) for name in _OPERANDS.get(type(node), ())])


def _called(node: Call) -> tuple[Expression, ...]:
    if isinstance(node.function, Member):
        return (node.function.value,)
    return () if isinstance(node.function, Name) else (node.function,)


def rebuild(node: Expression, parts: Sequence[Expression]) -> Expression:
    """The node with its operands replaced by `parts`, of which there are as many."""
    if isinstance(node, Call):
        start, function = len(_called(node)), node.function
        if isinstance(function, Member):
            function = replace(function, value=parts[0])
        elif start:
            function = parts[0]
        end = start + len(node.arguments)
        keywords = tuple(zip((name for name, _ in node.keywords), parts[end:]))
        return replace(
            node, function=function, arguments=tuple(parts[start:end]), keywords=keywords
        )
    if isinstance(node, ListDisplay):
        return replace(node, items=tuple(parts))
    changes: dict[str, Any] = dict(zip(_OPERANDS.get(type(node), ()), parts))
    return replace(node, **changes)


def walk(node: Expression) -> Iterator[Expression]:
    """Every node of a formula, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def called_name(node: Expression) -> str | None:
    """The name of the free function in a call, without namespace: `where` for `at::where(...)`."""
    if isinstance(node, Call) and isinstance(node.function, Name):
        return node.function.text.partition("<")[0].rpartition("::")[2]
    return None
