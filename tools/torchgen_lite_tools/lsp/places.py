"""Protocol positions, and where in an entry the cursor is.

This looks at lines and doesn't parse, since YAML that is being typed is broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lsprotocol import types

from torchgen_lite.diagnostics import Source, Span

Units = Callable[[str], int]
"""The length of a text as the client counts it."""

_KEY = re.compile(r"(?P<before>[ ]*(?:-[ ]+)*)(?P<key>\w[\w, ]*?)[ ]*:(?=\s|$)[ ]*")
_WORD = re.compile(r"[\w.:]+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"(?:^|\s)#")
_ENTRY = re.compile(r"-(?:\s|$)")
_FUNC = re.compile(r"(?:-\s+|\s+)(?:func|op)\s*:\s*[\"']?(?P<name>[\w.:]+)")


class Place(NamedTuple):
    """Where the cursor is: below `keys`, outermost first, in the entry of `operator`.

    `before` is the text between the last key and the cursor or, if `is_key`, the start of a key;
    `word` is the word under the cursor, and `identifier` the part of it without dots and colons. `fields` are the keys
    of the entry.
    """

    keys: tuple[str, ...]
    is_key: bool
    before: str
    word: str
    span: Span
    operator: str
    fields: tuple[str, ...]
    identifier: Span
    is_comment: bool


def position_of(source: Source, offset: int, units: Units) -> types.Position:
    line, column = source.line_column(offset)
    return types.Position(line - 1, units(source.line_text(line)[: column - 1]))


def range_of(span: Span, units: Units) -> types.Range:
    source, start, end = span
    return types.Range(position_of(source, start, units), position_of(source, end, units))


def offset_of(source: Source, position: types.Position, units: Units) -> int:
    """The offset of a position, clamped to the end of its line."""
    text = source.line_text(position.line + 1)
    column = next((n for n in range(len(text)) if units(text[:n]) >= position.character), len(text))
    return source.line_start(position.line + 1) + column


def find_place(source: Source, offset: int) -> Place:
    """The place of an offset, found from the lines around it."""
    number, column = source.line_column(offset)
    text = source.line_text(number)
    column = column - 1
    first = _first_line(source, number)
    key = _KEY.match(text)
    if first == 0:
        keys = []
    else:
        keys = _keys_above(source, first, number, _column(text, column))
    is_key = key is None or column < key.end("key") + 1
    before = text[:column].lstrip(" -")
    if key is not None and not is_key:
        keys.append(key["key"])
        before = text[key.end() : column]
    is_key, before = _in_braces(before, keys) if before.startswith("{") else (is_key, before)
    start = source.line_start(number)
    word = _under(_WORD, text, column, source, start)
    word = word._replace(end=word.start + len(word.text.rstrip(":.")))
    return Place(
        tuple(keys),
        is_key,
        before,
        word.text,
        word,
        *_entry(source, first),
        _under(_IDENTIFIER, text, column, source, start),
        _COMMENT.search(text[:column]) is not None,
    )


def _under(pattern: re.Pattern[str], text: str, column: int, source: Source, start: int) -> Span:
    """The word that a cursor is in or at, in a line that starts at an offset; empty at the cursor if there is none."""
    for found in pattern.finditer(text):
        if found.start() <= column <= found.end():
            return Span(source, start + found.start(), start + found.end())
    return Span(source, start + column, start + column)


def _column(text: str, cursor: int) -> int:
    """The column of a line's text after any list dashes; for an empty line, that of the cursor."""
    found = re.match(r"[ ]*(?:-[ ]+)*(?=\S)", text)
    return found.end() if found else cursor


def _first_line(source: Source, number: int) -> int:
    """The first line of the entry; 0 above the first entry."""
    while number > 0 and not _ENTRY.match(source.line_text(number)):
        number -= 1
    return number


def _keys_above(source: Source, first: int, number: int, column: int) -> list[str]:
    """The keys that enclose a line, by indentation."""
    keys: list[str] = []
    for one in range(number - 1, first - 1, -1):
        found = _KEY.match(source.line_text(one))
        if found is not None and found.end("before") < column:
            column = found.end("before")
            keys.insert(0, found["key"])
    return keys


def _in_braces(before: str, keys: list[str]) -> tuple[bool, str]:
    """The same for `dispatch: {CPU: add_cpu, ...}` on one line."""
    last = re.split(r"[{,]\s*", before)[-1]
    name, colon, value = last.partition(":")
    if colon:
        keys.append(name.strip())
    return not colon, (value if colon else name).lstrip()


class Entry(NamedTuple):
    """An entry as its lines show it: the name of its operator, if there is one, and the lines of its fields."""

    span: Span
    operator: Span | None
    fields: tuple[tuple[str, Span], ...]


def entries_of(source: Source) -> Iterator[Entry]:
    """The entries of a file."""
    last = _last_line(source)
    starts = [n for n in range(1, last + 1) if _ENTRY.match(source.line_text(n))]
    for first, after in zip(starts, [*starts[1:], last + 1]):
        yield _read_entry(source, first, after)


def _read_entry(source: Source, first: int, after: int) -> Entry:
    """The entry between two lines."""
    column = _column(source.line_text(first), 0)
    fields = []
    operator = None
    end = 0
    for number in range(first, after):
        text = source.line_text(number).rstrip()
        start = source.line_start(number)
        if text:
            end = start + len(text)
        found = _KEY.match(text)
        if found is None or found.end("before") != column:
            continue
        fields.append((found["key"], Span(source, start + column, end)))
        name = _FUNC.match(text)
        if operator is None and name is not None:
            operator = Span(source, start + name.start("name"), start + name.end("name"))
    return Entry(Span(source, source.line_start(first), end), operator, tuple(fields))


def _entry(source: Source, first: int) -> tuple[str, tuple[str, ...]]:
    """The name of the operator, and the fields, of the entry that begins at a line."""
    if not first:
        return "", ()
    after = first + 1
    last = _last_line(source)
    while after <= last and not _ENTRY.match(source.line_text(after)):
        after += 1
    entry = _read_entry(source, first, after)
    name = "" if entry.operator is None else entry.operator.text
    return name, tuple([name for name, _ in entry.fields])


def _last_line(source: Source) -> int:
    return source.line_column(len(source.text))[0]
