"""The nodes of a formula, and how a tree of them is written: `str()` of a node is the formula as in C++.

Equality ignores spans, as in the model of schemas. Brackets are not kept: they are written where the
tree needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Union, cast

from torchgen_lite.diagnostics import Span

PRECEDENCE = {
    "||": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    **dict.fromkeys(("==", "!="), 7),
    **dict.fromkeys(("<", ">", "<=", ">="), 8),
    **dict.fromkeys("+-", 10),
    **dict.fromkeys("*/%", 11),
}
"""Binary operators by C++'s precedence; all bind to the left."""

CONSTANTS = frozenset({"True", "False", "true", "false", "None"})
"""Names to which no operator can give another meaning."""

UNARY_PRECEDENCE = 12
_POSTFIX = 13
_CONDITIONAL = 1


@dataclass(frozen=True, slots=True)
class _Node:
    """What all nodes have in common: where they are written, if anywhere, and `str()`."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return write(cast("Expression", self))


@dataclass(frozen=True, slots=True)
class Name(_Node):
    """An identifier, perhaps qualified or with template arguments: `at::where`, `std::get<0>`.

    `is_torchs` says that it is written `torch.where`, so that no function of the author's is meant.
    """

    text: str
    is_torchs: bool = field(default=False, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Literal(_Node):
    """A number or a string, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Member(_Node):
    """`value.name`, or `value->name`."""

    value: Expression
    name: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class Call(_Node):
    """`function(arguments, name=value)`."""

    function: Expression
    arguments: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...] = ()

    @property
    def keyword_names(self) -> list[str]:
        return [name for name, _ in self.keywords]

    @property
    def operands(self) -> list[Expression]:
        """The arguments, and then the values of the keywords."""
        return [*self.arguments, *[value for _, value in self.keywords]]


@dataclass(frozen=True, slots=True)
class Subscript(_Node):
    """`value[index]`."""

    value: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Unary(_Node):
    """`-x`, `!x`, `*x`, `+x`, `~x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(_Node):
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(_Node):
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class ListDisplay(_Node):
    """`{a, b}` or `[a, b]`; `type` is the C++ type in front, if any, as in `at::IntArrayRef{}`."""

    items: tuple[Expression, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Lambda(_Node):
    """A C++ lambda, kept as text; or Python that formulas cannot say, with the `parts` that they can.

    `called` is the built-in function of Python, if it is a call of one.
    """

    text: str
    parts: tuple[Expression, ...] = ()
    called: str = ""


Expression = Union[
    Name, Literal, Member, Call, Subscript, Unary, Binary, Conditional, ListDisplay, Lambda
]

_OPERANDS = {
    Member: ("value",),
    Subscript: ("value", "index"),
    Unary: ("operand",),
    Binary: ("left", "right"),
    Conditional: ("test", "yes", "no"),
}


class Syntax(NamedTuple):
    """How a language writes formulas.

    `levels` and `unary` say how tightly operators bind. `conditional` has a place for the test and for each branch, and
    `last` is what the second one binds as tightly as. An operand in which an operator `is_unclear` stands in brackets.
    """

    levels: Mapping[str, int] = PRECEDENCE
    unary: Mapping[str, int] = dict.fromkeys("-+!~*", UNARY_PRECEDENCE)
    conditional: str = "{} ? {} : {}"
    last: int = _CONDITIONAL
    arrow: str = "->"
    brackets: tuple[str, str] = ("{", "}")
    is_unclear: Callable[[str, str], bool] = lambda outer, inner: False


CPP = Syntax()


def write(node: Expression, syntax: Syntax = CPP) -> str:
    """The text of a formula, with brackets where the tree needs them."""

    def at(part: Expression, level: int) -> str:
        text = write(part, syntax)
        if _level(part, syntax) >= level:
            return text
        return f"({text})"

    match node:
        case Member(value, name, arrow):
            return f"{at(value, _POSTFIX)}{syntax.arrow if arrow else '.'}{name}"
        case Call(function, arguments, keywords):
            items = [write(argument, syntax) for argument in arguments]
            items += [f"{name}={write(value, syntax)}" for name, value in keywords]
            return f"{at(function, _POSTFIX)}({', '.join(items)})"
        case Subscript(value, index):
            return f"{at(value, _POSTFIX)}[{write(index, syntax)}]"
        case Unary(operator, operand):
            text = at(operand, syntax.unary[operator])
            # `--x` is one operator.
            if text[0] == operator in "-+":
                return f"{operator}({text})"
            return operator + text
        case Binary(operator, left, right):
            sides = []
            level = syntax.levels[operator]
            for side, least in ((left, level), (right, level + 1)):
                inner = side.operator if isinstance(side, Binary) else ""
                is_unclear = bool(inner) and syntax.is_unclear(operator, inner)
                sides.append(at(side, _POSTFIX if is_unclear else least))
            return f" {operator} ".join(sides)
        case Conditional(test, yes, no):
            return syntax.conditional.format(at(test, 2), at(yes, 2), at(no, syntax.last))
        case ListDisplay(parts, type_):
            opening, closing = syntax.brackets
            inside = ", ".join([write(part, syntax) for part in parts])
            return f"{type_}{opening}{inside}{closing}"
        case _:
            return node.text


def _level(node: Expression, syntax: Syntax) -> int:
    match node:
        case Conditional():
            return _CONDITIONAL
        case Binary(operator):
            return syntax.levels[operator]
        case Unary(operator):
            return syntax.unary[operator]
    return _POSTFIX


def children(node: Expression) -> tuple[Expression, ...]:
    """The operands of a node, in the order written.

    For a call these are the object, if it calls a method, and the arguments; the name of a function
    is not a value.
    """
    if isinstance(node, Call):
        return (*_called(node), *node.operands)
    if isinstance(node, ListDisplay):
        return node.items
    if isinstance(node, Lambda):
        return node.parts
    return tuple([getattr(node, name) for name in _OPERANDS.get(type(node), ())])


def _called(node: Call) -> tuple[Expression, ...]:
    if isinstance(node.function, Member):
        return (node.function.value,)
    if isinstance(node.function, Name):
        return ()
    return (node.function,)


def rebuild(node: Expression, parts: Sequence[Expression]) -> Expression:
    """The node with its operands replaced by `parts`, of which there are as many."""
    if isinstance(node, Call):
        start = len(_called(node))
        function = node.function
        if isinstance(function, Member):
            function = replace(function, value=parts[0])
        elif start:
            function = parts[0]
        end = start + len(node.arguments)
        keywords = tuple(zip(node.keyword_names, parts[end:]))
        arguments = tuple(parts[start:end])
        return replace(node, function=function, arguments=arguments, keywords=keywords)
    if isinstance(node, ListDisplay):
        return replace(node, items=tuple(parts))
    if isinstance(node, Lambda):
        return replace(node, parts=tuple(parts))
    changes: dict[str, Any] = dict(zip(_OPERANDS.get(type(node), ()), parts))
    return replace(node, **changes)


def texts_in(node: Expression) -> list[str]:
    """The names in a formula, as often as they occur."""
    return [part.text for part in walk(node) if isinstance(part, Name)]


def mapped(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The node with each of its operands changed."""
    return rebuild(node, list(map(change, children(node))))


def walk(node: Expression) -> Iterator[Expression]:
    """Every node of a formula, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def call(function: Expression | str, *arguments: Expression) -> Call:
    """The call of a function, which may be given by its name."""
    if isinstance(function, str):
        function = Name(function)
    return Call(function, arguments)


def called_name(node: Expression) -> str | None:
    """The name of the free function in a call, without namespace: `where` for `at::where(...)`."""
    if isinstance(node, Call) and isinstance(node.function, Name):
        return node.function.text.partition("<")[0].rpartition("::")[2]
    return None


def name_called(node: Expression) -> str:
    """The name of the function or method that is called, if any."""
    if isinstance(node, Call) and isinstance(node.function, Member):
        return node.function.name
    return called_name(node) or ""
