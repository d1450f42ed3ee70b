"""Which lines of a Python file are statements to lay out.

Only lines that are too long are considered. Most are whole statements or items in brackets; the
text before them tells which.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from torchgen_lite.emit.layout.items import STRING
from torchgen_lite.emit.layout.python import lay_out_item, lay_out_statement
from torchgen_lite.emit.layout.python_lines import LINE_LENGTH

_TRIPLE = ('"""', "'''")
# How a continuation line begins, and the first characters, which rule out most lines quickly.
_GOES_ON = re.compile(r"(?:[.)\]}+*/%&|^<>=!-]|(?:and|or|if|else|for|in|is|not in)\b)")
_MAY_GO_ON = frozenset(".)]}+*/%&|^<>=!-aoiefn")
_BLOCKS = re.compile(r"(?:if|else|for)\b.*:(?: \.\.\.)?$")


def lay_out_python(text: str) -> str:
    """The text with its long statements split.

    >>> print(lay_out_python(f"def {'f' * 60}(first, *, second, third):\\n    return first"))
    def ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff(
        first, *, second, third
    ):
        return first
    """
    lines = text.split("\n")
    found = [i for i, line in enumerate(lines) if len(line) > LINE_LENGTH]
    if not found:
        return text
    raw = _raw_lines(text, lines)
    for i in found:
        if i not in raw:
            text = lines[i].lstrip(" ")
            divide = _layout_of(text, lines, i)
            if divide is not None:
                lines[i] = divide(text, len(lines[i]) - len(text))
    return "\n".join(lines)


def _layout_of(text: str, lines: list[str], i: int) -> Callable[[str, int], str] | None:
    """How to lay out line `i` of the text: as a statement, as an item in brackets, or not at
    all."""
    if text.startswith(("#", '"""')):
        return None
    before = i - 1
    while before >= 0 and lines[before].lstrip()[:1] in ("", "#"):
        before -= 1
    end = "" if before < 0 else lines[before].partition("  # ")[0][-1:]
    if end and end in ",([{":
        return lay_out_item
    goes_on = text[0] in _MAY_GO_ON and _GOES_ON.match(text) and not _BLOCKS.match(text)
    return None if end == "\\" or goes_on else lay_out_statement


def _raw_lines(text: str, lines: list[str]) -> set[int]:
    """The numbers of lines that begin inside a string or inside `fmt: off`."""
    raw: set[int] = set()
    if "# fmt: off" in text:
        is_off = False
        for i, line in enumerate(lines):
            comment = line.strip()
            is_off = comment == "# fmt: off" or (is_off and comment != "# fmt: on")
            if is_off:
                raw.add(i)
    quotes = [quote for quote in _TRIPLE if quote in text]
    position, number, counted = 0, 0, 0
    while found := [at for quote in quotes if (at := text.find(quote, position)) >= 0]:
        opening = min(found)
        start = text.rfind("\n", 0, opening) + 1
        before = STRING.sub("", text[max(start, position) : opening])
        position = opening + 3
        if "#" in before or '"' in before or "'" in before:
            continue
        end = text.find(text[opening:position], position)
        end = len(text) if end < 0 else end
        number += text.count("\n", counted, opening)
        height = text.count("\n", opening, end)
        raw.update(range(number + 1, number + height + 1))
        number, counted, position = number + height, end, end + 3
    return raw
