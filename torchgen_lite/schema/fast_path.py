"""A fast path for schemas whose parts have been parsed before.

Note [Schemas from known parts]
PyTorch's file has 2,584 schemas with 9,300 arguments, of which 1,100 are distinct: `Tensor self`
occurs two thousand times. So a schema in the usual spelling is split at `, `, and each part is
looked up. A new part goes through the real parser once, and is remembered if it is valid and prints
back as written. Its type and default are remembered too, for arguments that differ only in the
name; there are 150 such pairs. Anything else (a comma inside brackets, odd spacing, any mistake)
gives None, and the real parser reads the whole schema. So this is not a second grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from ..diagnostics import Locate, Source, Span
from .argument_parser import parse_argument, parse_return
from .cursor import Abort, Cursor
from .model import Argument, Parts, Return

_NAME = re.compile(
    r"((?:[A-Za-z_][A-Za-z0-9_]*::)*[A-Za-z_][A-Za-z0-9_]*)(?:\.((?!__|default\()[A-Za-z_][A-Za-z0-9_]*))?\(",
    re.ASCII,
)
# Untrusted input must not fill the memory; PyTorch's file needs half as many parts.
_MOST_PARTS = 4096
_LONGEST_PART = 200
# Does what `Argument(...)` does without the call: PyTorch's file has 9,300 arguments.
_new = tuple.__new__
_Part = TypeVar("_Part", Argument, Return)

_ARGUMENT = re.compile(r"(.+) ([A-Za-z_][A-Za-z0-9_]*)((?:=.*)?)", re.ASCII)


def _parse(text: str, parse: Callable[[Cursor], _Part]) -> _Part | None:
    """The part as the real parser reads it; None if it is invalid or spelled unusually."""
    cursor = Cursor(text, Source("", text).locator())
    part = None
    with suppress(Abort):
        part = parse(cursor)
    return None if cursor.diagnostics or str(part) != text else part


@lru_cache(_MOST_PARTS)
def _argument(text: str) -> Argument | None:
    """An argument, with places as if it stood alone."""
    cut = _ARGUMENT.fullmatch(text)
    like = _argument_like(cut[1], cut[3]) if cut is not None else None
    if cut is None or like is None:
        return _parse(text, parse_argument)
    offsets = (0, len(text), *cut.span(2), cut.end(2) + bool(cut[3]))
    return like._replace(name=cut[2], offsets=offsets)


@lru_cache(_MOST_PARTS)
def _argument_like(type_: str, default: str) -> Argument | None:
    """An argument of any name with this type and default."""
    argument = _parse(f"{type_} x{default}", parse_argument)
    return argument if argument is not None and str(argument.type) == type_ else None


@lru_cache(_MOST_PARTS)
def _return(text: str) -> Return | None:
    return _parse(text, parse_return)


def parse_fast(text: str, locate: Locate) -> Parts | None:
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
        # In a folded or escaped scalar, adding offsets doesn't give positions.
        return None
    arguments = _read_arguments(text, start, end, whole) if end > start else ()
    returned = None if arguments is None else _read_returns(text, end + 5, whole)
    if arguments is None or returned is None:
        return None
    name, overload_name = header.groups("")
    parenthesized = text.startswith("(", end + 5)
    if len(returned) > 1 and not parenthesized:
        return None
    parts = name, overload_name, arguments, returned
    return (*parts, False, False, parenthesized, whole, start - 1)


def _read_arguments(text: str, position: int, end: int, whole: Span) -> tuple[Argument, ...] | None:
    arguments = []
    kwarg_only = False
    for item in text[position:end].split(", "):
        if item == "*":
            if kwarg_only:
                return None
            kwarg_only = True
            position += 3
            continue
        part = _argument(item) if len(item) <= _LONGEST_PART else None
        if part is None:
            return None
        type_, name, default, _, _, _, offsets = part
        parts = (type_, name, default, kwarg_only, whole, position, offsets)
        arguments.append(_new(Argument, parts))
        position += len(item) + 2
    if kwarg_only and not (arguments and arguments[-1].kwarg_only):
        return None
    return tuple(arguments)


def _read_returns(text: str, position: int, whole: Span) -> tuple[Return, ...] | None:
    end = len(text)
    if text.startswith("(", position):
        if not text.endswith(")"):
            return None
        position += 1
        end -= 1
        if position == end:
            return ()
    returns = []
    for item in text[position:end].split(", "):
        part = _return(item) if len(item) <= _LONGEST_PART else None
        if part is None:
            return None
        stop = position + len(item)
        returns.append(_new(Return, (part[0], part[1], whole, position, stop)))
        position = stop + 2
    return tuple(returns)
