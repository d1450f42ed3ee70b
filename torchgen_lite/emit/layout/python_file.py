"""Which lines of a Python file are statements to lay out.

A file is looked at line by line, and only at lines that are too long, or have a comma before a closing
bracket. Most are whole statements or items of brackets, which is found out by what stands before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from torchgen_lite.emit.layout.python import lay_out_item, lay_out_statement
from torchgen_lite.emit.layout.python_lines import LINE_LENGTH
from torchgen_lite.emit.layout.python_usual import ONE_TUPLE

_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*\'""")
_TRIPLE = re.compile("\"\"\"|'''")
# With these, a line goes on that began before.
_GOES_ON = re.compile(r"(?:[.)\]}+*/%&|^<>=!-]|(?:and|or|if|else|for|in|is|not in)\b)")
_BLOCKS = re.compile(r"(?:if|else|for)\b.*:(?: \.\.\.)?$")


def lay_out_python(text: str) -> str:
    """The text with its long statements divided.

    >>> print(lay_out_python("def f(a, *, b,):\\n    return a"))
    def f(
        a,
        *,
        b,
    ):
        return a
    """
    lines = text.split("\n")
    found = [i for i, line in enumerate(lines) if len(line) > LINE_LENGTH]
    for commas in (",)", ",]", ",}"):
        if commas in text:
            found += [i for i, line in enumerate(lines) if commas in line and _asks(line)]
    if not found:
        return text
    raw = _raw_lines(text, lines)
    for i in sorted({*found} - raw):
        divide = _layout_of(lines, i)
        if divide is not None:
            text = lines[i].lstrip(" ")
            lines[i] = "\n".join(divide(text, len(lines[i]) - len(text)))
    return "\n".join(lines)


def _asks(line: str) -> bool:
    """Whether a comma before a closing bracket may ask for one item a line."""
    bare = ONE_TUPLE.sub("()", line)
    return ",)" in bare or ",]" in bare or ",}" in bare


def _layout_of(lines: list[str], i: int) -> Callable[[str, int], list[str]] | None:
    """How to lay a line out: as a statement, as an item in brackets, or not at all."""
    line = lines[i].lstrip()
    if line.startswith(('"""', "#")):
        return None
    before = i - 1
    while before >= 0 and (not lines[before].strip() or lines[before].lstrip()[:1] == "#"):
        before -= 1
    end = "" if before < 0 else lines[before].partition("  # ")[0][-1:]
    if end and end in ",([{":
        return lay_out_item
    goes_on = _GOES_ON.match(line) and not _BLOCKS.match(line)
    return None if end == "\\" or goes_on else lay_out_statement


def _raw_lines(text: str, lines: list[str]) -> set[int]:
    """The numbers of lines that begin inside of a string, or that black is told to leave alone."""
    raw: set[int] = set()
    if "# fmt: off" in text:
        is_off = False
        for i, line in enumerate(lines):
            comment = line.strip()
            is_off = comment == "# fmt: off" or (is_off and comment != "# fmt: on")
            if is_off:
                raw.add(i)
    position, number, counted = 0, 0, 0
    while match := _TRIPLE.search(text, position):
        start = text.rfind("\n", 0, match.start()) + 1
        before = _STRING.sub("", text[max(start, position) : match.start()])
        position = match.end()
        if "#" in before or '"' in before or "'" in before:
            continue
        end = text.find(match[0], position)
        end = len(text) if end < 0 else end
        number += text.count("\n", counted, match.start())
        height = text.count("\n", match.start(), end)
        raw.update(range(number + 1, number + height + 1))
        number, counted, position = number + height, end, end + 3
    return raw
