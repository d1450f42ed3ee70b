"""Items between commas, for either language; most statements that are too long are one call or signature."""

from __future__ import annotations

import re
from itertools import accumulate

DEEPEST = 64
"""A statement with more brackets in each other stays on its line; how deep Python calls functions is limited."""

_EVENTS = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()\[\]{},]""")
_BRACKETS = re.compile(r"[()\[\]{}]")
_ANGLES = re.compile(r"[()\[\]{}<>]")
_DEPTHS = {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}


def split_items(text: str, *, angles: bool = False) -> list[str] | None:
    """What stands between commas outside of brackets; None if a bracket closes that isn't open.

    With `angles`, `<` and `>` are brackets, too.

    >>> split_items('a, b[1, 2], "c, d"'), split_items("a) + (b")
    (['a', 'b[1, 2]', '"c, d"'], None)
    """
    if '"' in text or "'" in text:
        return None if angles and "<" in text else _split_with_strings(text)
    brackets = _ANGLES if angles else _BRACKETS
    if not brackets.search(text):
        return text.split(", ")
    items: list[str] = []
    depth = 0
    for piece in text.split(", "):
        if depth:
            items[-1] += f", {piece}"
        else:
            items.append(piece)
        found = brackets.findall(piece)
        if depth == 0 and len(found) == 2 and found[0] in "([{<" and found[1] in ")]}>":
            continue
        for bracket in found:
            depth += _DEPTHS[bracket]
            if depth < 0:
                return None
    return None if depth else items


def _split_with_strings(text: str) -> list[str] | None:
    items: list[str] = []
    depth = start = 0
    for event in _EVENTS.finditer(text):
        mark = event[0]
        if mark == ",":
            if not depth:
                items.append(text[start : event.start()])
                start = event.end() + 1
        else:
            depth += _DEPTHS.get(mark, 0)
            if depth < 0:
                return None
    return None if depth else [*items, text[start:]]


def is_too_deep(text: str) -> bool:
    """Whether so many brackets are in each other that it isn't worth to take them apart.

    >>> is_too_deep("f(" * DEEPEST + ")" * DEEPEST), is_too_deep("f(" * 200 + ")" * 200)
    (False, True)
    """
    if len(text) < 2 * DEEPEST:
        return False
    depths = accumulate(map(_DEPTHS.__getitem__, _BRACKETS.findall(text)))
    return max(depths, default=0) > DEEPEST
