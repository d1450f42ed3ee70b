"""C++ statements divided as clang-format 21 divides them, with the `.clang-format` of this repository.

Clang-format looks for the line breaks that cost least. A character beyond the last column costs more than
almost anything else, and the deeper a break is in brackets, the more it costs. With this style brackets are
either shut, with no break in them at all, or open: then each item has a line of its own.

What is not here: member initialisers, lambdas of several lines, comments, strings that follow each other, and
operators among operands that take several lines.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from torchgen_lite.emit.layout.cpp_parts import (
    COSTLY,
    Brackets,
    Break,
    Parts,
    flat_text,
    read_parts,
)
from torchgen_lite.emit.layout.cpp_usual import LINE_LENGTH, lay_out_usual_cpp
from torchgen_lite.emit.layout.items import is_too_deep

# What a character beyond the last column costs, and the first break at each depth.
_EXCESS, _FIRST = 1_000_000, 15
# What is only paid where nothing else helps.
_RARE = 50_000


class Laid(NamedTuple):
    """The rest of a line and the lines below it, and what they cost."""

    cost: int
    lines: tuple[str, ...]


class State(NamedTuple):
    """What is known behind a part, apart from the column.

    `start` is the column that open brackets count from. Calls of results begin lines (`broken`) or don't (`shut`).
    `question` is the column of a `?`.
    """

    start: int
    is_open: bool = False
    segments: str = ""
    question: int = 0
    is_broken: bool = False
    is_choice: bool = False

    def forces(self, part: Break) -> bool:
        """Whether a line has to end there."""
        if part.kind == "name":
            return self.is_open
        if part.kind == "answer":
            return self.is_choice
        return part.kind == "segment" and self.segments == "broken"


def lay_out_cpp_statement(text: str, indent: int) -> list[str]:
    """The lines of a statement (without its indentation).

    >>> lay_out_cpp_statement("int64_t value = function(first_argument);", 50)[1].strip()
    'function(first_argument);'
    """
    usual = lay_out_usual_cpp(text, indent)
    if usual is not None:
        return usual
    parts = None if is_too_deep(text) else read_parts(text)
    if parts is None:
        return [" " * indent + text]
    found = _Item(parts, indent, 0, COSTLY, {}).laid(0, indent, State(indent))
    if found.cost >= _RARE:
        found = _Item(parts, indent, 0, 2 * _EXCESS, {}).laid(0, indent, State(indent))
    first, *others = found.lines
    return [" " * indent + first, *others]


def _cheaper(first: Laid, second: Laid) -> Laid:
    return first if first.cost <= second.cost else second


def _excess(column: int) -> int:
    return _EXCESS * max(0, column - LINE_LENGTH)


def _behind(text: str, rest: Laid) -> Laid:
    """The text, and what follows on the same line."""
    return Laid(rest.cost, (text + rest.lines[0], *rest.lines[1:]))


class _Item:
    """Parts that begin at column `indent`, with `tail` characters behind them.

    Breaks of `limit` or more are not looked at. What is found for a part and a column is `known`, and so are the
    `items` of all brackets of the statement: there are many ways to get there.
    """

    def __init__(
        self, parts: Parts, indent: int, tail: int, limit: int, items: dict[tuple[int, ...], _Item]
    ) -> None:
        self.parts, self.indent, self.tail, self.limit = parts, indent, tail, limit
        self.known: dict[tuple[int, int, State], Laid] = {}
        self.items = items
        # How long everything from a part on is, and whether it has brackets that have to be open.
        self.flats = [flat_text([part]) for part in parts]
        self.lengths = [*accumulate(map(len, reversed(self.flats)), initial=0)][::-1]
        self.is_open = [any(",}" in flat for flat in self.flats[i:]) for i in range(len(parts))]

    def laid(self, i: int, column: int, state: State) -> Laid:
        """The cheapest lines from part `i` on, which begins at a column."""
        place = (i, column, state)
        if place not in self.known:
            self.known[place] = self.found(i, column, state)
        return self.known[place]

    def found(self, i: int, column: int, state: State) -> Laid:
        if i == len(self.parts) or self.may_stay(i, column, state):
            flat = "".join(self.flats[i:])
            return Laid(_excess(column + len(flat) + self.tail), (flat,))
        part, flat = self.parts[i], self.flats[i]
        if isinstance(part, Break):
            return self.at_break(i, part, column, state)
        shut = _behind(flat, self.laid(i + 1, column + len(flat), state))
        if isinstance(part, str) or part.first >= self.limit or state.segments == "shut":
            return shut
        opened = self.opened(i, part, column, state)
        if part.call is not None:
            shut = _cheaper(shut, self.inlined(i, part, part.call).laid(0, column, state))
        if part.is_simple:
            opened = _cheaper(opened, self.opened(i, part, column, state, hugs=True))
        return opened if part.has_comma else _cheaper(shut, opened)

    def may_stay(self, i: int, column: int, state: State) -> bool:
        """Whether all from part `i` on fits on the line, and nothing has to begin another one."""
        if column + self.lengths[i] + self.tail > LINE_LENGTH or self.is_open[i]:
            return False
        return not any(isinstance(part, Break) and state.forces(part) for part in self.parts[i:])

    def at_break(self, i: int, part: Break, column: int, state: State) -> Laid:
        if state.forces(part):
            return self.broken(i, part, column, state)
        after = state
        if part.kind == "segment":
            after = state._replace(segments="shut")
        elif part.kind == "question":
            after = state._replace(question=column + len(part.flat))
        shut = _behind(part.flat, self.laid(i + 1, column + len(part.flat), after))
        if part.cost >= self.limit:
            return shut
        return _cheaper(shut, self.broken(i, part, column, state))

    def broken(self, i: int, part: Break, column: int, state: State) -> Laid:
        """With a line that ends before part `i + 1`."""
        start = self.indent + part.indent
        if part.kind == "answer" and state.question:
            start = state.question
        is_choice = part.kind in ("question", "answer")
        is_first = not (state.is_choice if is_choice else state.is_broken)
        after = state._replace(
            start=start,
            segments="broken" if part.kind == "segment" else state.segments,
            is_broken=state.is_broken or not is_choice,
            is_choice=state.is_choice or is_choice,
        )
        rest = self.laid(i + 1, start, after)
        cost = rest.cost + part.cost + _excess(column) + (_FIRST if is_first else 0)
        return Laid(cost, ("", " " * start + rest.lines[0], *rest.lines[1:]))

    def opened(
        self, i: int, part: Brackets, column: int, state: State, *, hugs: bool = False
    ) -> Laid:
        """With brackets that are open; in those that hug, the first item stays on the line."""
        inner, cost = state.start + part.indent, part.first
        if hugs or column + len(part.opening) <= inner:
            # Nothing is to gain by another line: the items stand below each other.
            inner, cost, lines = column + len(part.opening), 0, [part.opening]
        else:
            lines = [part.opening, " " * inner]
        cost += part.comma * (len(part.items) - 1) + _FIRST
        cost += _excess(column + len(part.opening))
        for item in part.items if part.has_comma else part.items[:-1]:
            laid = self.item(item, inner, 1).laid(0, inner, State(inner))
            cost += laid.cost
            lines[-1] += laid.lines[0]
            lines += laid.lines[1:]
            lines[-1] += ","
            lines.append(" " * inner)
        if part.has_comma:
            lines[-1] = " " * (inner - part.indent)
        else:
            # What follows the last item counts there, and then again behind the brackets.
            tail = len(part.closing) + self.unbroken(i + 1)
            laid = self.item(part.items[-1], inner, tail).laid(0, inner, State(inner))
            lines[-1] += laid.lines[0]
            lines += laid.lines[1:]
            end = len(lines[-1]) + (column if len(lines) == 1 else 0)
            cost += laid.cost - _excess(end + tail)
        lines[-1] += part.closing
        end = len(lines[-1]) + (column if len(lines) == 1 else 0)
        rest = self.laid(i + 1, end, state._replace(is_open=True))
        lines[-1] += rest.lines[0]
        return Laid(cost + rest.cost, (*lines, *rest.lines[1:]))

    def item(self, item: Parts, column: int, tail: int) -> _Item:
        """An item of open brackets at a column, with `tail` characters behind it."""
        place = (id(item), column, tail)
        if place not in self.items:
            self.items[place] = _Item(item, column, tail, self.limit, self.items)
        return self.items[place]

    def inlined(self, i: int, part: Brackets, call: Parts) -> _Item:
        """The parts from `i` on, with a call in brackets as if it stood there without."""
        place = (id(call), self.indent, self.tail, id(self.parts))
        if place not in self.items:
            parts = [part.opening, *call, part.closing, *self.parts[i + 1 :]]
            self.items[place] = _Item(parts, self.indent, self.tail, self.limit, self.items)
        return self.items[place]

    def unbroken(self, i: int) -> int:
        """How many characters stand before the next place where a line may end."""
        if i == len(self.parts):
            return self.tail
        part = self.parts[i]
        return len(part) if isinstance(part, str) else 0
