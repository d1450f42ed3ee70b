"""A derivative formula in Python.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `_functions.where(self >= 0, grads[0], weight) if grads[0] is not None else zeros_like(self)`, where the
functions of the package and the helpers come from modules. First `in_python` puts Python's names into the tree,
then the tree is written: each node once, with the text of its operands at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.analysis.differentiability.facts import Saved
from torchgen_lite.analysis.differentiability.typed import Typed
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
    called_name,
    children,
    rebuild,
)
from torchgen_lite.schema.formula.kinds import Kind

_CONSTANTS = {"true": "True", "false": "False"}
_OPERATORS = {"&&": "and", "||": "or"}
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
_CONDITIONAL, _NOT, _COMPARISON, _UNARY, _POSTFIX = 1, 4, 5, 11, 12


CONJ = Name("_conj")
"""The framework's function for the conjugate of a tensor."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a target calls the functions of formulas, what was saved (None where the formula is computed), and
    the conjugate of a value."""

    function: Callable[[str], str]
    saved: Callable[[Saved], Expression | None]
    conjugate: Callable[[Expression, Kind], Expression]


def in_python(tree: Typed, words: Words) -> Expression:
    """The formula with Python's names."""
    local = words.saved(tree.saved) if tree.saved is not None else None
    if local is not None:
        return local
    node = tree.node
    if isinstance(node, Name):
        return Name(_CONSTANTS.get(node.text) or identifier(node.text))
    parts = [in_python(part, words) for part in tree.parts]
    if not isinstance(node, Call):
        return rebuild(node, parts)
    if is_method(node, "conj"):
        return words.conjugate(parts[0], tree.parts[0].kind)
    called = called_name(node)
    named = tuple((identifier(name), value) for name, value in node.keywords)
    node = replace(node, keywords=named)
    return rebuild(
        node if called is None else replace(node, function=Name(words.function(called))), parts
    )


def is_method(node: Call, name: str) -> bool:
    """Whether this is `x.name()`."""
    return isinstance(node.function, Member) and node.function.name == name and not node.arguments


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a node, how tightly it binds, and its operands."""

    node: Expression
    text: str
    level: int
    parts: tuple[Written, ...] = ()

    def at(self, level: int) -> str:
        """The text, in brackets if it binds looser than `level`."""
        return f"({self.text})" if self.level < level else self.text

    @property
    def weight(self) -> int:
        """The length of an expression; a name can't be made shorter by another name."""
        return 0 if isinstance(self.node, Name) else len(self.text)


def write(node: Expression) -> Written:
    """An expression with Python's names."""
    return _write(node, [write(child) for child in children(node)])


def _write(node: Expression, parts: Sequence[Written]) -> Written:
    text, level = _text(node, parts)
    return Written(node, text, level, tuple(parts))


def _text(node: Expression, parts: Sequence[Written]) -> tuple[str, int]:
    if isinstance(node, (Name, Literal, Lambda)):
        return node.text, _POSTFIX
    if isinstance(node, Member):
        return f"{parts[0].at(_POSTFIX)}.{node.name}", _POSTFIX
    if isinstance(node, Subscript):
        return f"{parts[0].at(_POSTFIX)}[{parts[1].text}]", _POSTFIX
    if isinstance(node, ListDisplay):
        return f"[{', '.join(part.text for part in parts)}]", _POSTFIX
    if isinstance(node, Call):
        if is_method(node, "defined"):
            return f"{parts[0].at(_COMPARISON + 1)} is not None", _COMPARISON
        head, items = _call(node, parts)
        if node.function == CONJ and isinstance(parts[0].node, Name):
            # So that it costs next to nothing for real tensors.
            return (
                f"{head}({items[0]}) if {items[0]}._dtype.is_complex else {items[0]}",
                _CONDITIONAL,
            )
        return f"{head}({', '.join(items)})", _POSTFIX
    if isinstance(node, Conditional):
        test, yes, no = parts
        return f"{yes.at(2)} if {test.at(2)} else {no.at(1)}", _CONDITIONAL
    if isinstance(node, Unary):
        if node.operator == "!":
            return f"not {parts[0].at(_NOT)}", _NOT
        return f"{node.operator}{parts[0].at(_UNARY)}", _UNARY
    operator = _OPERATORS.get(node.operator, node.operator)
    level = _LEVELS[operator]
    # Python chains comparisons, so the left side of one needs brackets too.
    left = parts[0].at(level + (level == _COMPARISON))
    return f"{left} {operator} {parts[1].at(level + 1)}", level


def _call(node: Call, parts: Sequence[Written]) -> tuple[str, list[str]]:
    """What stands before the bracket of a call, and the arguments."""
    texts = [part.text for part in parts]
    names = [f"{name}=" for name, _ in node.keywords]
    start = len(parts) - len(node.arguments) - len(names)
    head = str(node.function) if not start else parts[0].at(_POSTFIX)
    if isinstance(node.function, Member):
        head = f"{head}.{node.function.name}"
    named = texts[start + len(node.arguments) :]
    items = texts[start : start + len(node.arguments)]
    return head, items + [name + text for name, text in zip(names, named)]


def statements(local: str, written: Written, *, indent: int, target: str = "") -> list[str]:
    """`local = formula`, in as many statements as black needs to leave each line alone.

    `target` is what stands before the `=` where that is more than the name. What doesn't fit is taken apart:
    operands, objects of methods and arguments of calls get a name of their own. The branches of a conditional
    can't be, for only one of them may run.
    """
    node, head = written.node, f"{target or local} = "
    if indent + len(head) + len(written.text) <= LINE_LENGTH:
        return [head + written.text]
    if isinstance(node, Conditional):
        test, *branches = written.parts
        yes, no = (statements(local, b, indent=indent + 4, target=target) for b in branches)
        return [f"if {test.text}:", *_indented(yes), "else:", *_indented(no)]
    if isinstance(node, Call):
        called, items = _call(node, written.parts)
        if all(len(p) + indent + 5 <= LINE_LENGTH for p in (f"{head}{called}(", *items)):
            text = bracketed(f"{head}{called}(", items, indent=indent)
            return text.split("\n" + " " * indent)
    index = _heaviest(written)
    if index is None:
        return [head + written.text]
    part, parts = f"{local}part", list(written.parts)
    inner, parts[index] = parts[index], write(Name(part))
    rest = _write(node, parts)
    return [
        *statements(part, inner, indent=indent),
        *statements(local, rest, indent=indent, target=target),
    ]


def _heaviest(written: Written) -> int | None:
    """The operand that is worth a name of its own."""
    node, count = written.node, 0
    if isinstance(node, (Unary, Binary)):
        count = len(written.parts)
    elif isinstance(node, Call):
        count = len(written.parts) - len(node.keywords)
    weights = [part.weight for part in written.parts[:count]]
    return weights.index(max(weights)) if any(weights) else None


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
