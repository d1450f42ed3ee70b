"""C++ statements divided as clang-format 21 divides them, with the `.clang-format` of this repository.

Clang-format looks for the line breaks that cost least. A character beyond the last column costs more than
almost anything else, and the deeper a break is in brackets, the more it costs. With this style brackets are
either shut, with no break in them at all, or open: then each item has a line of its own.

What is not here: member initialisers, lambdas of several lines, comments, strings that follow each other.
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

# What a character beyond the last column costs, and the first break at each depth.
_EXCESS, _FIRST = 1_000_000, 15
# What is only paid where nothing else helps.
_RARE = 50_000


class Laid(NamedTuple):
    """Lines, and what they cost."""

    cost: int
    lines: tuple[str, ...]


# Statements with more brackets in each other stay on one line: the work grows with a high power of the depth.
DEEPEST = 16


def _depth(text: str) -> int:
    """How many brackets are open at once, at the most; those in strings count, too.

    >>> _depth("f(g(x), {y, (z)})")
    3
    """
    return max(accumulate(1 if c in "([{" else -1 for c in text if c in "([{)]}"), default=0)


def lay_out_cpp_statement(text: str, indent: int) -> list[str]:
    """The lines of a statement (without its indentation).

    >>> lay_out_cpp_statement("int64_t value = function(first_argument);", 50)[1].strip()
    'function(first_argument);'
    """
    usual = lay_out_usual_cpp(text, indent)
    if usual is not None:
        return usual
    parts = read_parts(text) if _depth(text) <= DEEPEST else None
    if parts is None:
        return [" " * indent + text]
    margin = " " * indent
    found = _Search(parts, indent, 0, COSTLY, {}).lay(0, (), margin, State(indent))
    if found.cost >= _RARE:
        found = _Search(parts, indent, 0, 2 * _EXCESS, {}).lay(0, (), margin, State(indent))
    return list(found.lines)


class State(NamedTuple):
    """What is known behind a part: the column that open brackets count from, whether some were opened, whether
    calls of results begin lines (`broken`) or not (`shut`), the column of a `?`, and which breaks there were.
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


# By the item, the column, what is behind it and what is before it.
Known = dict[tuple[int, int, int, str], Laid]


def _cheaper(first: Laid, second: Laid) -> Laid:
    return first if first.cost <= second.cost else second


def _excess(line: str, tail: int = 0) -> int:
    return _EXCESS * max(0, len(line) + tail - LINE_LENGTH)


class _Search:
    """The cheapest lines of parts that begin at column `indent`, with `tail` characters behind them.

    Breaks of `limit` or more are not looked at. `known` is what was found for items in this search and those
    around it: without it, the work would double with each level of nested brackets.
    """

    def __init__(self, parts: Parts, indent: int, tail: int, limit: int, known: Known) -> None:
        self.parts, self.indent, self.tail, self.limit = parts, indent, tail, limit
        self.known = known
        # How long everything from a part on is, and whether it has brackets that have to be open.
        flats = [flat_text([part]) for part in parts]
        self.flat = [*accumulate(map(len, reversed(flats)), initial=0)][::-1]
        self.is_open = [any(",}" in flat for flat in flats[i:]) for i in range(len(parts))]

    def lay(self, i: int, lines: tuple[str, ...], line: str, state: State) -> Laid:
        """From part `i` on, behind `line`."""
        part = self.parts[i] if i < len(self.parts) else ""
        if i == len(self.parts) or self.may_stay(i, line, state):
            line += flat_text(self.parts[i:])
            return Laid(_excess(line, self.tail), (*lines, line))
        if isinstance(part, str):
            return self.lay(i + 1, lines, line + part, state)
        if isinstance(part, Break):
            return self.lay_break(i, part, lines, line, state)
        shut = self.lay(i + 1, lines, line + part.flat, state)
        if part.first >= self.limit or state.segments == "shut":
            return shut
        opened = self.opened(i, part, lines, line, state)
        if part.call is not None:
            parts = [part.opening, *part.call, part.closing, *self.parts[i + 1 :]]
            inner = _Search(parts, self.indent, self.tail, self.limit, self.known)
            shut = _cheaper(shut, inner.lay(0, lines, line, state))
        if part.is_simple:
            opened = _cheaper(opened, self.opened(i, part, lines, line, state, hugs=True))
        return opened if part.has_comma else _cheaper(shut, opened)

    def may_stay(self, i: int, line: str, state: State) -> bool:
        """Whether all from part `i` on fits on the line, and nothing has to begin another one."""
        if len(line) + self.flat[i] + self.tail > LINE_LENGTH or self.is_open[i]:
            return False
        return not any(isinstance(part, Break) and state.forces(part) for part in self.parts[i:])

    def lay_break(
        self, i: int, part: Break, lines: tuple[str, ...], line: str, state: State
    ) -> Laid:
        if state.forces(part):
            return self.broken(i, part, lines, line, state)
        after = state
        if part.kind == "segment":
            after = state._replace(segments="shut")
        elif part.kind == "question":
            after = state._replace(question=len(line) + len(part.flat))
        shut = self.lay(i + 1, lines, line + part.flat, after)
        if part.cost >= self.limit:
            return shut
        return _cheaper(shut, self.broken(i, part, lines, line, state))

    def broken(self, i: int, part: Break, lines: tuple[str, ...], line: str, state: State) -> Laid:
        start = self.indent + part.indent
        if part.kind == "answer" and state.question:
            start = state.question
        segments = "broken" if part.kind == "segment" else state.segments
        is_choice = part.kind in ("question", "answer")
        is_first = not (state.is_choice if is_choice else state.is_broken)
        after = state._replace(
            start=start,
            segments=segments,
            is_broken=state.is_broken or not is_choice,
            is_choice=state.is_choice or is_choice,
        )
        rest = self.lay(i + 1, (*lines, line), " " * start, after)
        cost = part.cost + _excess(line) + (_FIRST if is_first else 0)
        return Laid(rest.cost + cost, rest.lines)

    def opened(
        self,
        i: int,
        part: Brackets,
        lines: tuple[str, ...],
        line: str,
        state: State,
        *,
        hugs: bool = False,
    ) -> Laid:
        line += part.opening
        cost = part.first + part.comma * (len(part.items) - 1) + _FIRST + _excess(line)
        column = state.start + part.indent
        if hugs or len(line) <= column:
            # Nothing is to gain by another line: the items stand below each other.
            column, cost = len(line), cost - part.first
        else:
            lines, line = (*lines, line), " " * column
        for item in part.items[:-1]:
            laid = self.item(item, column, 1, line)
            cost += laid.cost
            lines, line = (*lines, *laid.lines[:-1], f"{laid.lines[-1]},"), " " * column
        after = state._replace(is_open=True)
        if part.has_comma:
            laid = self.item(part.items[-1], column, 1, line)
            lines = (*lines, *laid.lines[:-1], f"{laid.lines[-1]},")
            rest = self.lay(i + 1, lines, " " * (column - part.indent) + part.closing, after)
            return Laid(rest.cost + cost + laid.cost, rest.lines)
        tail = len(part.closing) + self.unbroken(i + 1)
        laid = self.item(part.items[-1], column, tail, line)
        cost += laid.cost - _excess(laid.lines[-1], tail)
        rest = self.lay(i + 1, (*lines, *laid.lines[:-1]), laid.lines[-1] + part.closing, after)
        return Laid(rest.cost + cost, rest.lines)

    def item(self, item: Parts, column: int, tail: int, line: str) -> Laid:
        """An item of open brackets behind `line`, with `tail` characters behind it."""
        flat = flat_text(item)
        if len(line) + len(flat) + tail <= LINE_LENGTH and ",}" not in flat:
            return Laid(0, (line + flat,))
        place = (id(item), column, tail, line)
        if place not in self.known:
            search = _Search(item, column, tail, self.limit, self.known)
            self.known[place] = search.lay(0, (), line, State(column))
        return self.known[place]

    def unbroken(self, i: int) -> int:
        """How many characters stand before the next place where a line may end."""
        if i == len(self.parts):
            return self.tail
        part = self.parts[i]
        return len(part) if isinstance(part, str) else 0
