"""A fast path for schemas whose parts have been parsed before.

Note [Schemas from known parts]
PyTorch's file has 2,584 schemas with 9,300 arguments, of which 1,500 are different: `Tensor self` comes
two thousand times. So a schema in the usual spelling is cut at `, `, and each part is looked up. A part
that is new goes through the real parser once, and is remembered if it was right and prints back as it
was written. Whatever doesn't fit (a comma inside brackets, odd spacing, any mistake) gives None, and the
real parser reads the whole schema. There is one grammar, and this isn't another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..diagnostics import Source, Span
from .argument_parser import parse_argument, parse_return
from .cursor import Abort, Cursor
from .model import Argument, Return, SchemaParts, Type

_NAME = re.compile(
    r"((?:[A-Za-z_][A-Za-z0-9_]*::)*[A-Za-z_][A-Za-z0-9_]*)(?:\.((?!__|default\()[A-Za-z_][A-Za-z0-9_]*))?\(",
    re.ASCII,
)
# Untrusted input must not fill the memory; PyTorch's file needs half of this.
_MOST_PARTS = 4096
_LONGEST_PART = 200
# What `Span(...)` does, without its call: PyTorch's file has 32,000 of them.
_new = tuple.__new__


class _ArgumentPart(NamedTuple):
    """An argument without its place: offsets are from its own start."""

    type: Type
    name: str
    default: str | None
    name_start: int
    name_end: int


class _ReturnPart(NamedTuple):
    """A return value without its place."""

    type: Type
    name: str | None


_arguments: dict[str, _ArgumentPart | None] = {}
_returns: dict[str, _ReturnPart | None] = {}


def _cursor(text: str) -> Cursor:
    source = Source("", text)
    return Cursor(text, lambda start, end: Span(source, start, end))


def _learn_argument(text: str) -> _ArgumentPart | None:
    """Read an argument with the real parser; None if it is wrong or written unusually."""
    part = None
    cursor = _cursor(text)
    try:
        found = parse_argument(cursor, False)
    except Abort:
        found = None
    if found is not None and not cursor.diagnostics and str(found) == text:
        span = found.name_span
        assert span is not None
        part = _ArgumentPart(found.type, found.name, found.default, span.start, span.end)
    if len(_arguments) >= _MOST_PARTS:
        _arguments.clear()
    if len(text) <= _LONGEST_PART:
        _arguments[text] = part
    return part


def _learn_return(text: str) -> _ReturnPart | None:
    """Read a return value with the real parser; None if it is wrong or written unusually."""
    part = None
    cursor = _cursor(text)
    try:
        found = parse_return(cursor)
    except Abort:
        found = None
    if found is not None and not cursor.diagnostics and str(found) == text:
        part = _ReturnPart(found.type, found.name)
    if len(_returns) >= _MOST_PARTS:
        _returns.clear()
    if len(text) <= _LONGEST_PART:
        _returns[text] = part
    return part


def parse_fast(text: str, locate: Callable[[int, int], Span]) -> SchemaParts | None:
    """A schema in the usual spelling, or None."""
    header = _NAME.match(text)
    if header is None:
        return None
    start = header.end()
    end = text.find(") -> ", start - 1)
    if end < 0:
        return None
    whole = locate(0, len(text))
    source, base, _ = whole
    if not source.text.startswith(text, base):
        # A folded or escaped scalar: places aren't a matter of adding.
        return None
    arguments = _read_arguments(text, start, end, source, base) if end > start else ()
    returned = None if arguments is None else _read_returns(text, end + 5, source, base)
    if arguments is None or returned is None:
        return None
    name, overload_name = header.groups("")
    parenthesised = text.startswith("(", end + 5)
    name_span = Span(source, base, base + start - 1)
    parts = (
        name,
        overload_name,
        arguments,
        returned,
        False,
        False,
        parenthesised,
        whole,
        name_span,
    )
    return _new(SchemaParts, parts)


def _read_arguments(
    text: str, position: int, end: int, source: Source, base: int
) -> tuple[Argument, ...] | None:
    arguments: list[Argument] = []
    kwarg_only = False
    for item in text[position:end].split(", "):
        if item == "*":
            if kwarg_only:
                return None
            kwarg_only = True
            position += 3
            continue
        part = _arguments[item] if item in _arguments else _learn_argument(item)
        if part is None:
            return None
        type_, name, default, name_start, name_end = part
        stop = position + len(item)
        first, last = base + position, base + stop
        name_end += first
        arguments.append(
            Argument(
                type_,
                name,
                default,
                kwarg_only,
                _new(Span, (source, first, last)),
                _new(Span, (source, first + name_start, name_end)),
                None if default is None else _new(Span, (source, name_end + 1, last)),
            )
        )
        position = stop + 2
    if kwarg_only and not (arguments and arguments[-1].kwarg_only):
        return None
    return tuple(arguments)


def _read_returns(text: str, position: int, source: Source, base: int) -> tuple[Return, ...] | None:
    end = len(text)
    if text.startswith("(", position):
        if not text.endswith(")"):
            return None
        position += 1
        end -= 1
        if position == end:
            return ()
    returns: list[Return] = []
    for item in text[position:end].split(", "):
        part = _returns[item] if item in _returns else _learn_return(item)
        if part is None:
            return None
        stop = position + len(item)
        span = _new(Span, (source, base + position, base + stop))
        returns.append(Return(part.type, part.name, span))
        position = stop + 2
    return tuple(returns)
