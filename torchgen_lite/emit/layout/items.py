"""Items between commas, in either language; most overlong statements are one call or signature."""

from __future__ import annotations

import re
from itertools import accumulate

DEEPEST = 64
"""A statement with deeper nesting stays on its line, because Python limits the depth of
recursion."""

STRING = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'""")
_ROUND = re.compile(r"[()]")
_BRACKETS = re.compile(r"[()\[\]{}]")
_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_PAIRS = {"[": "]", "{": "}", "<": ">"}


def split_items(text: str, *, angles: bool = False) -> list[str] | None:
    """The items between commas outside brackets; None if a bracket closes that isn't open.

    With `angles`, `<` and `>` are brackets, too.

    >>> split_items('a, b[1, 2], "c, d"'), split_items("a) + (b")
    (['a', 'b[1, 2]', '"c, d"'], None)
    """
    bare = text
    if '"' in text or "'" in text:
        # Commas and brackets in strings do not count.
        bare = STRING.sub(lambda string: "_" * len(string[0]), text)
        if '"' in bare or "'" in bare:
            return None
    for mark in "[{<" if angles else "[{":
        bare = bare.replace(mark, "(").replace(_PAIRS[mark], ")")
    if bare is text and "(" not in bare and ")" not in bare:
        return text.split(", ")
    items: list[str] = []
    depth = start = end = 0
    for piece in bare.split(", "):
        end += len(piece) + 2
        if "(" in piece or ")" in piece:
            for bracket in _ROUND.findall(piece):
                depth += 1 if bracket == "(" else -1
                if depth < 0:
                    return None
        if not depth:
            items.append(text[start : end - 2])
            start = end
    return None if depth else items


def is_too_deep(text: str) -> bool:
    """Whether brackets are nested too deeply to be broken up.

    >>> is_too_deep("f(" * DEEPEST + ")" * DEEPEST), is_too_deep("f(" * 200 + ")" * 200)
    (False, True)
    """
    if len(text) < 2 * DEEPEST:
        return False
    depths = accumulate(map(_DEPTHS.__getitem__, _BRACKETS.findall(text)))
    return max(depths, default=0) > DEEPEST
