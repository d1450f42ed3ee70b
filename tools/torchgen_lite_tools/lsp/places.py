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
    number = position.line + 1
    text = source.line_text(number)
    column = 0
    while column < len(text) and units(text[:column]) < position.character:
        column += 1
    return source.line_start(number) + column


def find_place(source: Source, offset: int) -> Place:
    """The place of an offset, found from the lines around it."""
    number, column = source.line_column(offset)
    text = source.line_text(number)
    column = column - 1
    before_cursor = text[:column]
    first = _first_line(source, number)
    keys: list[str] = []
    if first != 0:
        keys = _keys_above(source, first, number, _column(text, column))
    key = _KEY.match(text)
    is_key = key is None or column < key.end("key") + 1
    before = before_cursor.lstrip(" -")
    if key is not None and not is_key:
        keys.append(key["key"])
        before = text[key.end() : column]
    if before.startswith("{"):
        is_key, before = _in_braces(before, keys)
    start = source.line_start(number)
    word = _under(_WORD, text, column, source, start)
    length = len(word.text.rstrip(":."))
    word = word._replace(end=word.start + length)
    operator, fields = _entry(source, first)
    return Place(
        keys=tuple(keys),
        is_key=is_key,
        before=before,
        word=word.text,
        span=word,
        operator=operator,
        fields=fields,
        identifier=_under(_IDENTIFIER, text, column, source, start),
        is_comment=_COMMENT.search(before_cursor) is not None,
    )


def _under(pattern: re.Pattern[str], text: str, column: int, source: Source, start: int) -> Span:
    """The word that a cursor is in or at, in a line that starts at an offset; empty at the cursor if there is none."""
    for word in pattern.finditer(text):
        if word.start() <= column <= word.end():
            return Span(source, start + word.start(), start + word.end())
    return Span(source, start + column, start + column)


def _column(text: str, cursor: int) -> int:
    """The column of a line's text after any list dashes; for an empty line, that of the cursor."""
    dashes = re.match(r"[ ]*(?:-[ ]+)*(?=\S)", text)
    return dashes.end() if dashes else cursor


def _first_line(source: Source, number: int) -> int:
    """The first line of the entry; 0 above the first entry."""
    while number > 0 and not _ENTRY.match(source.line_text(number)):
        number -= 1
    return number


def _keys_above(source: Source, first: int, number: int, column: int) -> list[str]:
    """The keys that enclose a line, by indentation."""
    innermost_first: list[str] = []
    for above in reversed(range(first, number)):
        key = _KEY.match(source.line_text(above))
        if key is not None and key.end("before") < column:
            column = key.end("before")
            innermost_first.append(key["key"])
    return innermost_first[::-1]


def _in_braces(before: str, keys: list[str]) -> tuple[bool, str]:
    """The same for `dispatch: {CPU: add_cpu, ...}` on one line."""
    pairs = re.split(r"[{,]\s*", before)
    name, colon, value = pairs[-1].partition(":")
    if not colon:
        return True, name.lstrip()
    keys.append(name.strip())
    return False, value.lstrip()


class Entry(NamedTuple):
    """An entry as its lines show it: the name of its operator, if there is one, and the lines of its fields."""

    span: Span
    operator: Span | None
    fields: tuple[tuple[str, Span], ...]


def entries_of(source: Source) -> Iterator[Entry]:
    """The entries of a file."""
    end = _last_line(source) + 1
    starts = [number for number in range(1, end) if _ENTRY.match(source.line_text(number))]
    ends = [*starts[1:], end]
    for first, after in zip(starts, ends):
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
        key = _KEY.match(text)
        if key is None or key.end("before") != column:
            continue
        fields.append((key["key"], Span(source, start + column, end)))
        func = _FUNC.match(text)
        if operator is None and func is not None:
            name_start, name_end = func.span("name")
            operator = Span(source, start + name_start, start + name_end)
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
