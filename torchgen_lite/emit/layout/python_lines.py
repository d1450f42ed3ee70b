"""Parts of a Python statement that go on one line each, and black's rules about such a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.emit.layout.python_leaves import COMMA, Leaves

LINE_LENGTH = 88


class CannotDivide(Exception):
    """A way to split lines that doesn't work for this line."""


class Line(NamedTuple):
    """A part of a statement that goes on one line, if it can.

    `depth` counts the brackets around it. Only a `body` may be split at commas and operators.
    `comma` is one that black adds; `explodes`: it gets one item per line even if everything would
    fit.
    """

    start: int
    end: int
    indent: int
    depth: int = 0
    is_body: bool = False
    comma: str = ""
    explodes: bool = False
    is_tail: bool = False


def width(text: str) -> int:
    """The number of columns of a text; wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def text_of(leaves: Leaves, line: Line) -> str:
    text = "".join(leaves.texts[line.start : line.end])
    return " " * line.indent + text.lstrip() + line.comma


def fits(leaves: Leaves, line: Line, limit: int = LINE_LENGTH) -> bool:
    return width(text_of(leaves, line)) <= limit


def is_magic(leaves: Leaves, line: Line) -> bool:
    """Whether a comma before a closing bracket asks for one item per line."""
    if not leaves.magic or line.is_tail:
        return False
    return any(line.start <= leaves.partners[c] and c < line.end for c in leaves.magic)


def split_at(leaves: Leaves, line: Line, opening: int) -> Iterator[Line]:
    """The text up to an opening bracket, the content of the brackets, and the rest."""
    closing = leaves.partners[opening]
    yield Line(line.start, opening + 1, line.indent, line.depth)
    yield body_of(leaves, line, opening)
    yield Line(closing, line.end, line.indent, line.depth, comma=line.comma, is_tail=True)


def body_of(leaves: Leaves, line: Line, opening: int) -> Line:
    closing = leaves.partners[opening]
    comma = "," if _takes_comma(leaves, line, opening) else ""
    depth = leaves.depths[opening] + 1
    body = Line(opening + 1, closing, line.indent + 4, depth, is_body=True, comma=comma)
    return body._replace(explodes=_explodes(leaves, body, opening))


def _takes_comma(leaves: Leaves, line: Line, opening: int) -> bool:
    """Imported names and a single parameter get a comma even if they stay on one line."""
    closing = leaves.partners[opening]
    if leaves.kinds[closing - 1] == "," or line.start:
        return False
    if leaves.keyword == "from":
        return True
    if leaves.keyword != "def" or opening in leaves.displays:
        return False
    # Black mistakes commas in the annotation of `*args` for commas between items.
    depth = leaves.depths[opening] + 1
    equals = opening if leaves.texts[opening + 1] == "*" else closing
    for i in range(opening + 1, closing):
        if leaves.kinds[i] == "=" and leaves.depths[i] == depth:
            equals = min(equals, i)
        if leaves.kinds[i] == "," and (leaves.depths[i] == depth or i > equals):
            return False
    return True


def _explodes(leaves: Leaves, body: Line, opening: int) -> bool:
    """Displays of several items, imports, and anything with a trailing comma get one item per
    line."""
    ends = body.comma or leaves.kinds[body.end - 1] == ","
    found = [p for i, p in dividers_of(leaves, body) if i != body.end - 1]
    return bool(found) and max(found) == COMMA and (bool(ends) or opening in leaves.displays)


def dividers_of(leaves: Leaves, line: Line) -> list[tuple[int, int]]:
    """The leaves after which the line may be split, and the priority of each."""
    priorities, levels, depth = leaves.priorities, leaves.levels, line.depth
    return [
        (i, priorities[i])
        for i in range(line.start, line.end)
        if priorities[i] and levels[i] == depth
    ]
