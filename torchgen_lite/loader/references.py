"""The `reference:` of samples: the expected result, as a Python expression or a function's name.

    reference: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    reference: rms_norm_reference

An expression has only values, operators and calls, so that all names in it can be listed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.reader import KERNEL_NAME, EntryReader, short
from torchgen_lite.loader.yaml_nodes import Node, ScalarNode
from torchgen_lite.loader.yaml_text import scalar_locator

_NODES = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.IfExp,
    ast.List,
    ast.Name,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.keyword,
)
_MARKS = (ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)


@dataclass(frozen=True, slots=True)
class Reference:
    """An expression, or the name of a `function`; `names` are the names in it and their places."""

    text: str
    function: str = ""
    names: tuple[tuple[str, Span], ...] = field(default=(), compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


def read_reference(reader: EntryReader, node: Node) -> Reference | None:
    """The value of `reference:`, or None and diagnostics if it can't be read."""
    if not isinstance(node, ScalarNode) or node.is_null:
        reader.wrong_type("reference", node, "an expression or the name of a function")
        return None
    span = reader.span(node)
    text = node.value.strip()
    if KERNEL_NAME.fullmatch(text) and "::" not in text:
        return Reference(text, text, ((text, span),), span)
    try:
        tree = ast.parse(f"(\n{node.value}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        hint = error.msg if isinstance(error, SyntaxError) else None
        reader.refuse("TG335", text, "an expression of Python", span, "here", hint)
        return None
    place = _placed(node.value, scalar_locator(reader.source, node))
    for part in ast.walk(tree):
        problem = _unread(part)
        if problem:
            reader.report(
                "TG335", f"a reference cannot use {problem}", place(part), "not read here"
            )
            return None
    parts = [part for part in ast.walk(tree) if isinstance(part, ast.Name)]
    names = tuple((part.id, place(part)) for part in parts)
    return Reference(ast.unparse(tree), "", names, span)


def _unread(node: ast.AST) -> str:
    """What a reference must not have at this node, for a message; empty for an allowed node."""
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return f"private names: `{short(node.attr)}`"
    if isinstance(node, (*_NODES, *_MARKS)):
        return ""
    return f"`{short(ast.unparse(node))}`"


def _placed(text: str, locate: Callable[[int, int], Span]) -> Callable[[ast.AST], Span]:
    """Map nodes to places. Python counts bytes within lines, and the first line is our bracket."""
    lines = text.splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        before = sum(map(len, lines[: line - 2]))
        within = lines[line - 2] if line - 2 < len(lines) else ""
        return before + len(within.encode()[:column].decode(errors="ignore"))

    def place(node: ast.AST) -> Span:
        lineno, column = getattr(node, "lineno", 2), getattr(node, "col_offset", 0)
        end = getattr(node, "end_lineno", lineno), getattr(node, "end_col_offset", column + 1)
        return locate(offset(lineno, column), offset(*end))

    return place
