"""Makes foreign text safe for a terminal: control characters, tabs, wide characters."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining, east_asian_width

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def displayable(text: str) -> str:
    """`text` with tabs as four spaces and every control or bidirectional character replaced."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if c.isprintable() else _REPLACEMENT for c in text.replace("\t", "    ")])


def one_line(text: str) -> str:
    """`text` on one line, without control characters."""
    return displayable(text.replace("\r", "").replace("\n", " "))


def width(text: str) -> int:
    """The number of terminal columns that already displayable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def cut_at(text: str, at: str) -> list[str]:
    """The parts between separators, without the white space around them."""
    return [part.strip() for part in text.split(at)]


def ended(lines: Iterable[str]) -> str:
    """A text of these lines, each with its end."""
    return "".join([f"{line}\n" for line in lines])


def quoted(names: Iterable[str], between: str = ", ") -> str:
    """`` `a`, `b` ``."""
    return between.join([f"`{name}`" for name in names])


def counted(number: int, word: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
