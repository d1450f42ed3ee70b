"""Where a Python line is split: at the last brackets, with black's exceptions
(`right_hand_split`)."""

from __future__ import annotations

from collections.abc import Iterator, Set

from torchgen_lite.emit.layout.python_leaves import DOT, Leaves
from torchgen_lite.emit.layout.python_lines import (
    LINE_LENGTH,
    CannotDivide,
    Line,
    body_of,
    dividers_of,
    fits,
    is_magic,
    split_at,
    width,
)

_NONE: frozenset[int] = frozenset()


def divide_at_last(leaves: Leaves, line: Line) -> list[Line]:
    """Split at the last brackets that let the first line fit, or else at the very last ones."""
    first: list[Line] | None = None
    starts = _starts(leaves, line)
    for shut in _shut(leaves, line):
        if shut and _begins_too_late(leaves, line, shut, starts):
            continue
        parts = _divide_at(leaves, line, shut)
        if first is None and not shut:
            first = parts
        if fits(leaves, parts[0]):
            return parts
    return first if first is not None else _divide_at(leaves, line, _NONE)


def _starts(leaves: Leaves, line: Line) -> list[int]:
    """The columns of the leaves, before optional brackets become visible."""
    column, starts = line.indent, []
    for text in leaves.texts[line.start : line.end]:
        starts.append(column)
        column += width(text)
    return starts


def _begins_too_late(leaves: Leaves, line: Line, shut: Set[int], starts: list[int]) -> bool:
    for i in range(line.end - 1, line.start - 1, -1):
        if leaves.kinds[i] == ")" and i not in shut:
            opening = leaves.partners[i]
            visible = opening >= line.start and not leaves.is_optional(opening)
            return visible and starts[opening - line.start] > LINE_LENGTH
    return False


def _shut(leaves: Leaves, line: Line) -> Iterator[Set[int]]:
    """Sets of closing brackets to keep on a line, each with one more pair than the one before.

    A pair can stay if everything from it to the end of the line fits (black,
    `generate_trailers_to_omit`).
    """
    shut: set[int] = set()
    if not is_magic(leaves, line):
        yield shut
    length = line.indent + len(line.comma)
    last, until = -1, -1
    inner: set[int] = set()
    for i in range(line.end - 1, line.start - 1, -1):
        length += width(leaves.texts[i])
        if length > LINE_LENGTH:
            return
        if until >= 0:
            if i == until:
                until = -1
            elif leaves.kinds[i] == ")":
                if i in leaves.not_shut:
                    return
                inner.add(i)
        elif leaves.kinds[i] == ")":
            if i > line.start and leaves.kinds[i - 1] == "(":
                inner.add(i)
                continue
            if last >= 0:
                shut.add(last)
                shut |= inner
                inner.clear()
                yield shut
            if i in leaves.not_shut:
                return
            if leaves.texts[i]:
                until, last = leaves.partners[i], i


def _last_brackets(leaves: Leaves, line: Line, shut: Set[int]) -> int:
    """The opening bracket of the last pair that is not empty and not kept closed."""
    i = line.end - 1
    while i >= line.start:
        if leaves.kinds[i] == ")" and i not in shut:
            opening = leaves.partners[i]
            if opening < line.start:
                break
            if opening < i - 1:
                return opening
            i = opening
        i -= 1
    raise CannotDivide


def _divide_at(leaves: Leaves, line: Line, shut: Set[int]) -> list[Line]:
    """Split at the last brackets, and at optional ones only if the line should not do without
    them."""
    opening = _last_brackets(leaves, line, shut)
    closing = leaves.partners[opening]
    is_optional = leaves.is_optional(opening) and leaves.keyword != "from"
    if not leaves.is_forced and is_optional and _can_do_without(leaves, line, opening):
        try:
            other = _last_brackets(leaves, line, shut | {closing})
            if _is_better(leaves, line, opening, other):
                return _divide_at(leaves, line, shut | {closing})
        except CannotDivide:
            is_chained = leaves.kinds[line.start : line.end].count("=") > 1
            body = body_of(leaves, line, opening)
            if not is_chained and _is_rigid(leaves, body) and not fits(leaves, body):
                raise
    leaves.show(opening)
    return list(split_at(leaves, line, opening))


def _can_do_without(leaves: Leaves, line: Line, opening: int) -> bool:
    """Whether the content of optional brackets is as readable without them (black,
    `can_omit_invisible_parens`)."""
    body = body_of(leaves, line, opening)
    dividers = dividers_of(leaves, body)
    if not dividers:
        return True
    highest = max(p for _, p in dividers)
    if sum(p == highest for _, p in dividers) > 1:
        return False
    if highest == DOT:
        return True
    kinds, last = leaves.kinds, body.end - 1
    if kinds[body.start] == "(" and kinds[body.start + 1] != ")" and _rest_fits(leaves, body):
        return True
    is_subscript = leaves.texts[last] == "]" and leaves.partners[last] not in leaves.displays
    if kinds[last] != ")" or is_subscript or kinds[last - 1] == "(":
        return False
    return _start_fits(leaves, body)


def _rest_fits(leaves: Leaves, body: Line) -> bool:
    """Whether the text after the body's leading brackets fits on a line up to the next brackets."""
    closing, length, counts = leaves.partners[body.start], body.indent, False
    for i in range(body.start, body.end):
        counts = counts or i == closing
        if counts:
            length += width(leaves.texts[i])
            if length > LINE_LENGTH:
                return False
            counts = leaves.kinds[i] != "("
    return True


def _start_fits(leaves: Leaves, body: Line) -> bool:
    """Whether the body fits on a line up to its trailing brackets, or has others before them."""
    opening, length, others = leaves.partners[body.end - 1], body.indent, False
    for i in range(body.start, opening + 1):
        length += width(leaves.texts[i])
        if i < opening:
            others = others or leaves.kinds[i] == "("
    return others or length <= LINE_LENGTH


def _is_better(leaves: Leaves, line: Line, opening: int, other: int) -> bool:
    """Whether to split at brackets other than the optional ones (black,
    `_prefer_split_rhs_oop_over_rhs`)."""
    kinds = leaves.kinds
    head = Line(line.start, opening + 1, line.indent, line.depth)
    if opening - 1 < line.start or kinds[opening - 1] != "=":
        return True
    if not any(kind in "()" for kind in kinds[line.start : opening]):
        return True
    if not fits(leaves, head, LINE_LENGTH - 1) or is_magic(leaves, head):
        return True
    signs = kinds[line.start : opening].count("=")
    if signs > 1 and signs > kinds[line.start : other].count("="):
        return False
    for i in range(other, line.start - 1, -1):
        if kinds[i] == "=":
            break
        if kinds[i] == ")":
            return True
    return "=" in kinds[line.start : other] and fits(leaves, head._replace(end=other + 1))


def _is_rigid(leaves: Leaves, body: Line) -> bool:
    """Whether a line certainly cannot be split (black, `can_be_split`)."""
    first = leaves.texts[body.start]
    if body.end - body.start == 1:
        return leaves.kinds[body.start] == "s" or "." not in first
    return leaves.kinds[body.start] == "s" and leaves.kinds[body.start + 1] == "."
