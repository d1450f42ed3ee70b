"""Python text laid out as black lays it out, so that no formatter needs to run over it.

Note [Black by construction]
Formatting generated code costs fifty times as much as generating it, and a formatter's release may
change its mind. So the generator writes what black would leave alone: a bracket stays on its line when
it fits in 88 columns, and otherwise holds one item a line with a trailing comma, which black keeps
as it is ("magic trailing comma"). Strings follow black's quote rule. A test runs black over the output
for our own file, and another over the output for PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

LINE_LENGTH = 88


def quote(text: str) -> str:
    """A string literal: double quotes, unless single ones need fewer backslashes.

    >>> print(quote("add"), quote('say "x"'))
    "add" 'say "x"'
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    mark = "'" if text.count('"') > text.count("'") else '"'
    body = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return mark + "".join(map(_printable, body)) + mark


def docstring(text: str) -> str:
    """A docstring on one line: backslashes doubled, no quote next to the closing quotes.

    >>> print(docstring("aten::relu(Tensor self) -> Tensor"))
    \"\"\"aten::relu(Tensor self) -> Tensor\"\"\"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"""{text}"""'
    body = "".join(map(_printable, text.replace("\\", "\\\\").replace('"', '\\"'))).strip()
    # An escaped quote is only needed where three quotes meet; elsewhere the plain one reads better.
    if '"""' not in text and not text.endswith('"'):
        body = body.replace('\\"', '"')
    # Black puts a space between a quote and the closing quotes.
    return f'"""{body}{" " if body.endswith(chr(34)) else ""}"""'


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def literal(value: object) -> str:
    """A Python literal of a default value: lists become tuples, which nobody can change by accident.

    >>> print(literal([0, 1]), literal(float("inf")), literal("mean"), literal(1 + 2j))
    (0, 1) float("inf") "mean" complex(1.0, 2.0)
    """
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, (list, tuple)):
        return tuple_display([literal(item) for item in value])
    return repr(value)


def tuple_display(items: Sequence[str]) -> str:
    """`()`, `(a,)` or `(a, b)` on one line."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def bracketed(
    head: str, items: Sequence[str], close: str = ")", *, indent: int = 0, tail: str = ""
) -> str:
    """`head` (which ends with an opening bracket), items, closing bracket, `tail`.

    On one line if the line fits, and otherwise one item a line with a trailing comma. The first line
    is not indented (the template places it); `indent` says how deep it will stand.

    >>> print(bracketed("f(", ["a", "b"]))
    f(a, b)
    """
    flat = ", ".join(items)
    if indent + len(head) + len(flat) + len(close) + len(tail) <= LINE_LENGTH or not items:
        return f"{head}{flat}{close}{tail}"
    target, equals, value = head.partition(" = ")
    if indent + len(head) > LINE_LENGTH >= indent + 4 + len(value) and equals:
        # The head is too long, but would fit on a line of its own: black brackets the whole value.
        inner = bracketed(value, items, close, indent=indent + 4, tail=tail)
        margin = " " * indent
        return f"{target} = (\n{margin}    {inner}\n{margin})"
    return exploded(head, items, close, indent=indent) + tail


def exploded(head: str, items: Sequence[str], close: str = ")", *, indent: int = 0) -> str:
    """As `bracketed`, always with one item a line.

    >>> print(exploded("f(", ["a", "b"]))
    f(
        a,
        b,
    )
    """
    margin = "\n" + " " * (indent + 4)
    return f"{head}{margin}{(',' + margin).join(items)},\n{' ' * indent}{close}"


def import_line(module: str, names: Sequence[str], *, indent: int = 0) -> str:
    """`from module import a, b`, in brackets with one name a line if it is too long."""
    flat = f"from {module} import {', '.join(names)}"
    if indent + len(flat) <= LINE_LENGTH:
        return flat
    return exploded(f"from {module} import (", names, indent=indent)
