"""Python statements split as black 26 splits them.

A statement that is too long is split at its last brackets into head, body and tail; a body that is
still too long is split at its loosest operators, one part per line (black, `transform_line`,
`right_hand_split`, `delimiter_split`). A signature is split at its first brackets
(`left_hand_split`). The rules that decide which brackets count as the last are black's, with their
exceptions. One accident is not copied: black opens a one-tuple after an attempt that it has
abandoned.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from torchgen_lite.emit.layout.items import is_too_deep
from torchgen_lite.emit.layout.python_brackets import divide_at_last
from torchgen_lite.emit.layout.python_leaves import COMMA, DOT, Leaves, read_leaves
from torchgen_lite.emit.layout.python_lines import (
    LINE_LENGTH,
    CannotDivide,
    Line,
    dividers_of,
    is_magic,
    split_at,
    text_of,
    width,
)
from torchgen_lite.emit.layout.python_usual import lay_out_usual

# An imported name, which can't be split.
_NAME = re.compile(r"\w+ as \w+,")


def lay_out_statement(text: str, indent: int) -> str:
    """A statement (without its indentation), split into lines.

    >>> lay_out_statement("f(a, b,)", 4).split("\\n")
    ['    f(', '        a,', '        b,', '    )']
    """
    usual = lay_out_usual(text, indent)
    if usual is not None:
        return usual
    leaves = None if is_too_deep(text) else read_leaves(text)
    if leaves is None:
        return " " * indent + text
    lines = _laid_out(leaves, Line(0, len(leaves.texts), indent))
    if len(lines) == 1:
        return " " * indent + text
    if leaves.optional and leaves.keyword != "def":
        # Commas that black adds may change where it splits, so it runs twice.
        joined = join_lines(lines)
        again = read_leaves(joined) if joined != text else None
        lines = _laid_out(again, Line(0, len(again.texts), indent)) if again else lines
    return "\n".join(lines)


def lay_out_item(text: str, indent: int) -> str:
    """An item in brackets that is already on its own line, split into lines.

    >>> lay_out_item("(a, b,),", 4).split("\\n")
    ['    (', '        a,', '        b,', '    ),']
    """
    is_name = _NAME.fullmatch(text) is not None
    leaves = None if is_name or is_too_deep(text) else read_leaves(text, is_item=True)
    if leaves is None:
        return " " * indent + text
    return "\n".join(_laid_out(leaves, Line(0, len(leaves.texts), indent, is_body=True)))


def join_lines(lines: list[str]) -> str:
    """A statement that spans several lines, as one line.

    >>> join_lines(["f(", "    a,", ").b"])
    'f(a,).b'
    """
    joined = ""
    for line in map(str.strip, lines):
        is_close = joined.endswith(("(", "[", "{")) or line.startswith((")", "]", "}", "."))
        joined += line if is_close or not joined else f" {line}"
    return joined


def _laid_out(leaves: Leaves, line: Line) -> list[str]:
    """The line, split until everything fits or can't be split."""
    text = text_of(leaves, line)
    if not line.explodes and width(text) <= LINE_LENGTH and not is_magic(leaves, line):
        return [text]
    for divide in _ways(leaves, line):
        try:
            return _divided(leaves, line, divide, text)
        except CannotDivide:
            continue
    return [text]


_Divide = Callable[[Leaves, Line], list[Line]]


def _ways(leaves: Leaves, line: Line) -> list[_Divide]:
    if line.start == 0 and leaves.keyword == "def":
        return [_divide_signature]
    return [_divide_at_operators, divide_at_last] if line.is_body else [divide_at_last]


def _divided(leaves: Leaves, line: Line, divide: _Divide, text: str) -> list[str]:
    """The lines of each part. If the first is too long, optional brackets are tried, too."""
    result: list[str] = []
    for part in divide(leaves, line):
        if text_of(leaves, part) == text:
            raise CannotDivide
        result += _laid_out(leaves, part)
    if (
        leaves.is_forced
        or divide is not divide_at_last
        or line.comma
        or width(result[0]) <= LINE_LENGTH
    ):
        return result
    found, outer = _optional_brackets(leaves, line)
    if not found or any(not leaves.is_optional(opening) for opening in outer):
        return result
    second = _divided(leaves.copy_forced(), line, divide, text)
    return second if all(width(part) <= LINE_LENGTH for part in second) else result


def _optional_brackets(leaves: Leaves, line: Line) -> tuple[bool, list[int]]:
    """Whether there are any, and those outside all other brackets of the line."""
    found, unmatched = False, 0
    outer: list[int] = []
    if line.is_tail:
        return found, outer
    for i in range(line.start, line.end):
        if leaves.kinds[i] != "(":
            continue
        if leaves.partners[i] >= line.end:
            unmatched += 1
        elif i in leaves.optional:
            found = True
            if leaves.depths[i] == line.depth + unmatched:
                outer.append(i)
    return found, outer


def _divide_signature(leaves: Leaves, line: Line) -> list[Line]:
    """Split at the first non-empty brackets: parameters, or the annotation of the result."""
    for opening in range(line.start, line.end):
        if leaves.kinds[opening] != "(" or leaves.texts[opening].strip() not in ("", "("):
            continue
        closing = leaves.partners[opening]
        if opening + 1 < closing < line.end:
            leaves.show(opening)
            return list(split_at(leaves, line, opening))
    raise CannotDivide


def _divide_at_operators(leaves: Leaves, line: Line) -> list[Line]:
    """Split after commas, or else before the loosest operators."""
    dividers = dividers_of(leaves, line)
    highest = max((p for i, p in dividers if i != line.end - 1), default=0)
    places = [i + 1 for i, p in dividers if p == highest]
    if not highest or (highest == DOT and len(places) == 1):
        raise CannotDivide
    comma = "," if highest == COMMA and leaves.kinds[line.end - 1] != "," else line.comma
    bounds = [line.start, *(place for place in places if place < line.end), line.end]
    parts = [
        Line(start, end, line.indent, line.depth, is_body=True) for start, end in pairwise(bounds)
    ]
    return [*parts[:-1], parts[-1]._replace(comma=comma)]
