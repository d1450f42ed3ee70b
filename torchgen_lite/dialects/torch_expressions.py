"""Expressions of `fake:` and `samples:` in Python with torch.

    broadcast(a, b)      _support.broadcast(a, b)
    float32              torch.float32
    randn(3, 4).t()      torch.randn(3, 4).t()

Every name has been checked by `analysis`; here it is only written.
"""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.dialects.python_formula import Writer
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import literal
from torchgen_lite.schema.formula import (
    Binary,
    Call,
    Conditional,
    Expression,
    ListDisplay,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
)

TORCH = Name("torch")
_WORDS = {"true": "True", "false": "False"}
_PYTHON = frozenset({"True", "False", "None"})


def torch_call(name: str, *arguments: Expression, **keywords: Expression | None) -> Call:
    """`torch.empty(shape, dtype=...)`; keywords that are None are left out."""
    given = tuple((k, v) for k, v in keywords.items() if v is not None)
    return Call(Member(TORCH, name), arguments, given)


def method_call(
    value: Expression, name: str, *arguments: Expression, **keywords: Expression | None
) -> Call:
    """`x.new_empty(shape, dtype=...)`."""
    given = tuple((k, v) for k, v in keywords.items() if v is not None)
    return Call(Member(value, name), arguments, given)


def in_python(node: Expression, values: Collection[str]) -> Expression:
    """The tree with constants of torch spelled out; `values` are names that stand for themselves."""

    def new(inner: Expression) -> Expression:
        return in_python(inner, values)

    if isinstance(node, Name):
        if node.text in values:
            return Name(identifier(node.text))
        word = _WORDS.get(node.text, node.text)
        return Literal(word) if word in _PYTHON else Member(TORCH, word)
    if isinstance(node, Literal):
        return Literal(_literal(node.text))
    if isinstance(node, Call):
        called = node.function if isinstance(node.function, Name) else new(node.function)
        keywords = tuple((name, new(value)) for name, value in node.keywords)
        return Call(called, tuple(map(new, node.arguments)), keywords)
    if isinstance(node, Member):
        return Member(new(node.value), node.name)
    if isinstance(node, Subscript):
        return Subscript(new(node.value), new(node.index))
    if isinstance(node, Unary):
        return Unary(node.operator, new(node.operand))
    if isinstance(node, Binary):
        return Binary(node.operator, new(node.left), new(node.right))
    if isinstance(node, Conditional):
        return Conditional(new(node.test), new(node.yes), new(node.no))
    return ListDisplay(tuple(map(new, node.items))) if isinstance(node, ListDisplay) else node


def _literal(text: str) -> str:
    """A number or a string as Python writes it: `007` and `1.` are no literals of black's style."""
    if text[0] in "\"'":
        return literal(text[1:-1])
    return literal(int(text)) if text.isdigit() else literal(float(text))


def _no_fact(node: Expression) -> str | None:
    return None


# Names of functions that Python has its own of.
_SUPPORT = {"len": "length", "max": "sym_max", "min": "sym_min"}
RULE_WRITER = Writer(lambda name: f"_support.{_SUPPORT.get(name, name)}", _no_fact)
SAMPLE_WRITER = Writer(lambda name: f"torch.{name}", _no_fact)
