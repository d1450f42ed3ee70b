"""A derivative formula in Python.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `_functions.where(self >= 0, grads[0], weight) if grads[0] is not None else zeros_like(self)`, where the
functions of the package and the helpers come from modules. Facts about saved tensors are locals: `self.shape`
is `self_shape`. `self.conj()` asks for the type first, so that it costs next to nothing for real tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import LINE_LENGTH, bracketed
from torchgen_lite.schema.formula import (
    Binary,
    Call,
    Conditional,
    Expression,
    Lambda,
    ListDisplay,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
)

_OPERATORS = {"&&": "and", "||": "or"}
_CONSTANTS = {"true": "True", "false": "False"}
# Python's levels: comparisons bind looser than `|`, unlike in C++.
_LEVELS = {
    "or": 2,
    "and": 3,
    "==": 5,
    "!=": 5,
    "<": 5,
    ">": 5,
    "<=": 5,
    ">=": 5,
    "|": 6,
    "^": 7,
    "&": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_CONDITIONAL, _NOT, _UNARY, _POSTFIX = 1, 4, 11, 12


@dataclass(frozen=True, slots=True)
class Writer:
    """How names are written: `function` gives the expression for a function that a formula calls, `fact`
    the local name of an expression that was saved in place of a tensor, or None; `numbers` are the names
    that stand for Python numbers."""

    function: Callable[[str], str]
    fact: Callable[[Expression], str | None]
    numbers: frozenset[str] = frozenset()

    def text(self, node: Expression, level: int = 0) -> str:
        """The expression, in brackets if it binds looser than `level`."""
        written, own = self._write(node)
        return f"({written})" if own < level else written

    def _write(self, node: Expression) -> tuple[str, int]:
        fact = self.fact(node)
        if fact is not None:
            return fact, _POSTFIX
        if isinstance(node, Name):
            return _CONSTANTS.get(node.text, identifier(node.text)), _POSTFIX
        if isinstance(node, (Literal, Lambda)):
            return node.text, _POSTFIX
        if isinstance(node, Member):
            return f"{self.text(node.value, _POSTFIX)}.{node.name}", _POSTFIX
        if isinstance(node, Subscript):
            return f"{self.text(node.value, _POSTFIX)}[{self.text(node.index)}]", _POSTFIX
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, ListDisplay):
            return f"[{', '.join(self.text(item) for item in node.items)}]", _POSTFIX
        return self._compound(node)

    def _compound(self, node: Unary | Binary | Conditional) -> tuple[str, int]:
        if isinstance(node, Unary):
            if node.operator == "!":
                return f"not {self.text(node.operand, _NOT)}", _NOT
            return f"{node.operator}{self.text(node.operand, _UNARY)}", _UNARY
        if isinstance(node, Conditional):
            yes, test = self.text(node.yes, 2), self.text(node.test, 2)
            return f"{yes} if {test} else {self.text(node.no, 1)}", _CONDITIONAL
        operator = _OPERATORS.get(node.operator, node.operator)
        level = _LEVELS[operator]
        # Python chains comparisons, so the left side of one needs brackets too.
        left = self.text(node.left, level + (level == 5))
        return f"{left} {operator} {self.text(node.right, level + 1)}", level

    def _call(self, node: Call) -> tuple[str, int]:
        function = node.function
        if isinstance(function, Member) and function.name == "defined" and not node.arguments:
            return f"{self.text(function.value, 6)} is not None", 5
        conjugated = _conjugated(node)
        if conjugated is not None:
            return self._conjugate(conjugated)
        return f"{self.called(node)}({', '.join(self.arguments(node))})", _POSTFIX

    def _conjugate(self, value: Expression) -> tuple[str, int]:
        """The conjugate of a number; of a tensor what the framework's `conj` makes of it."""
        if not isinstance(value, Name):
            return f"_conj({self.text(value)})", _POSTFIX
        name = self.text(value)
        if value.text in self.numbers:
            return f"{name}.conjugate()", _POSTFIX
        return f"_conj({name}) if {name}._dtype.is_complex else {name}", _CONDITIONAL

    def called(self, node: Call) -> str:
        """What stands before the bracket of a call."""
        if isinstance(node.function, Name):
            return self.function(node.function.text.rpartition("::")[2])
        return self.text(node.function, _POSTFIX)

    def arguments(self, node: Call) -> list[str]:
        items = [self.text(argument) for argument in node.arguments]
        return items + [f"{identifier(k)}={self.text(value)}" for k, value in node.keywords]

    def lines(self, target: str, node: Expression, *, indent: int) -> list[str]:
        """`target = formula`, in as many statements as black needs to leave each line alone.

        What doesn't fit is taken apart: operands, objects of methods and arguments of calls get a name of
        their own. The branches of a conditional can't be, for only one of them may run.
        """
        flat = f"{target} = {self.text(node)}"
        if indent + len(flat) <= LINE_LENGTH:
            return [flat]
        if isinstance(node, Conditional):
            yes = self.lines(target, node.yes, indent=indent + 4)
            no = self.lines(target, node.no, indent=indent + 4)
            return [f"if {self.text(node.test)}:", *_indented(yes), "else:", *_indented(no)]
        conjugated = _conjugated(node)
        if isinstance(conjugated, Name):
            return [f"{target} = _conj({self.text(conjugated)})"]
        if isinstance(node, Call):
            head = f"{target} = {self.called(node)}("
            items = self.arguments(node)
            if all(len(part) + indent + 5 <= LINE_LENGTH for part in (head, *items)):
                return bracketed(head, items, indent=indent).split("\n" + " " * indent)
        return self._apart(target, node, indent)

    def _call_apart(self, node: Call, part: Name) -> tuple[Expression, Expression]:
        """The object of a method or the heaviest argument, and the call with a name in its place."""
        arguments = list(node.arguments)
        heaviest = max(range(len(arguments)), key=lambda i: self._weight(arguments[i]))
        most = self._weight(arguments[heaviest])
        function = node.function
        if isinstance(function, Member) and self._weight(function.value) >= most:
            method = Member(part, function.name, function.arrow)
            return function.value, Call(method, node.arguments, node.keywords)
        inner, arguments[heaviest] = arguments[heaviest], part
        return inner, Call(function, tuple(arguments), node.keywords)

    def _weight(self, node: Expression) -> int:
        """The length of an expression; a name can't be made shorter by another name."""
        return 0 if isinstance(node, Name) else len(self.text(node))

    def _apart(self, target: str, node: Expression, indent: int) -> list[str]:
        """The heaviest part of an expression under a name of its own, and then the rest."""
        name = f"{target.partition(',')[0].partition(':')[0]}part"
        part = Name(name)
        inner: Expression
        rest: Expression
        if isinstance(node, Unary):
            inner, rest = node.operand, Unary(node.operator, part)
        elif isinstance(node, Binary) and self._weight(node.left) >= self._weight(node.right):
            inner, rest = node.left, Binary(node.operator, part, node.right)
        elif isinstance(node, Binary):
            inner, rest = node.right, Binary(node.operator, node.left, part)
        elif isinstance(node, Call) and isinstance(node.function, Member) and not node.arguments:
            inner = node.function.value
            rest = Call(Member(part, node.function.name, node.function.arrow), (), node.keywords)
        elif isinstance(node, Call) and node.arguments:
            inner, rest = self._call_apart(node, part)
        else:
            return [f"{target} = {self.text(node)}"]
        if isinstance(inner, Name):
            return [f"{target} = {self.text(node)}"]
        return [
            *self.lines(name, inner, indent=indent),
            *self.lines(target, rest, indent=indent),
        ]


def _conjugated(node: Expression) -> Expression | None:
    """`x` of `x.conj()`."""
    if isinstance(node, Call) and isinstance(node.function, Member) and not node.arguments:
        return node.function.value if node.function.name == "conj" else None
    return None


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
