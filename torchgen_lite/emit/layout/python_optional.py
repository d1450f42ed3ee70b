"""The optional brackets of a Python statement.

Note [Optional brackets]
Black puts invisible parentheses around whatever may be parenthesized without a change of
meaning: the value of an assignment or of `return`, a condition, the names of an import, an
annotation, a conditional expression inside another. They are leaves like any others, and become
visible when a statement is split at them (black, `normalize_invisible_parens`, `visit_test`,
`visit_funcdef`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_ASSIGNMENTS = frozenset("= += -= *= @= /= %= &= |= ^= <<= >>= **= //=".split())
_KEYWORDS = frozenset("""
    and as assert async await case del elif else except for from if import in is lambda not or raise return
    while with yield
    """.split())
_SIGNS = frozenset("( [ { , : := -> ~ < > == != <= >= | ^ & << >> + - * / // % @ **".split())
# After these, a sign is part of the operand, and a bracket does not belong to the text before it.
_OPERATORS = _KEYWORDS | _ASSIGNMENTS | _SIGNS
# Brackets around these change the meaning.
_NEEDED = frozenset((",", "for", ":=", "yield"))
# What ends a conditional expression.
_LIMITS = _ASSIGNMENTS | {",", ":", ":=", "->", "return", "assert", "yield", "raise", "else"}


@dataclass(slots=True)
class Optional:
    """How many optional brackets open and close before each word, written brackets that are
    optional (`hidden`), and the `if` of each conditional expression."""

    keyword: str
    opening: Counter[int] = field(default_factory=Counter)
    closing: Counter[int] = field(default_factory=Counter)
    hidden: set[int] = field(default_factory=set)
    conditionals: set[int] = field(default_factory=set)


def is_operator(values: list[str], i: int) -> bool:
    """Whether an operand begins after word `i`."""
    return i < 0 or values[i] in _OPERATORS


def find_optional(values: list[str], pairs: dict[int, int], *, is_item: bool) -> Optional:
    """The optional brackets of a statement or of an item in brackets; written brackets are paired
    already."""
    if is_item:
        finder = _Finder(values, pairs, Optional(""))
        finder.conditional_expressions(0)
        return finder.found
    start = 1 if values[0] == "async" and len(values) > 1 else 0
    finder = _Finder(values, pairs, Optional(values[start]))
    statement = _STATEMENTS.get(values[start], _Finder.assignment)
    start = start if statement is _Finder.assignment else start + 1
    statement(finder, start)
    if "if" in values[start:]:
        finder.conditional_expressions(start)
    return finder.found


class _Finder:
    def __init__(self, values: list[str], pairs: dict[int, int], found: Optional) -> None:
        self.values, self.pairs, self.found = values, pairs, found
        self.wrapped: set[tuple[int, int]] = set()
        self.loop_in = -1

    def outer(self, start: int, end: int) -> Iterator[int]:
        """The positions outside brackets, not counting the brackets themselves."""
        i = start
        while i < end:
            yield i
            i = self.pairs.get(i, i) + 1 if self.pairs.get(i, -1) > i else i + 1

    def index(self, value: str, start: int, end: int = -1) -> int:
        """The position of the word outside brackets, or the end."""
        end = len(self.values) if end < 0 else end
        return next((i for i in self.outer(start, end) if self.values[i] == value), end)

    def wrap(self, start: int, end: int, needed: frozenset[str] = _NEEDED) -> None:
        """Put optional brackets around words that are not a pair of brackets already."""
        if start >= end:
            return
        if self.values[start] == "(" and self.pairs[start] == end - 1:
            words = {self.values[i] for i in self.outer(start + 1, end - 1)}
            if words and not words & needed:
                self.found.hidden |= {start, end - 1}
            return
        self.found.opening[start] += 1
        self.found.closing[end] += 1
        self.wrapped.add((start, end))

    def colon(self, start: int) -> int:
        """The colon that opens a block: the last one outside brackets."""
        return max(
            (i for i in self.outer(start, len(self.values)) if self.values[i] == ":"), default=0
        )

    def value(self, start: int) -> None:
        self.wrap(start, len(self.values))

    def condition(self, start: int) -> None:
        self.wrap(start, self.colon(start))

    def loop(self, start: int) -> None:
        middle = self.loop_in = self.index("in", start)
        self.wrap(start, middle)
        self.wrap(middle + 1, self.colon(middle), _NEEDED | {"if", "lambda"})

    def assertion(self, start: int) -> None:
        comma = self.index(",", start)
        self.wrap(start, comma)
        self.wrap(comma + 1, len(self.values))

    def names(self, start: int) -> None:
        first = self.index("import", start) + 1
        if self.values[first:] and self.values[first] == "(":
            self.found.hidden |= {first, self.pairs[first]}
        elif self.values[first:] != ["*"]:
            self.wrap(first, len(self.values))

    def nothing(self, start: int) -> None:
        """Statements without optional brackets of their own."""

    def function(self, start: int) -> None:
        """The annotation of the result, and parameter annotations that are unions."""
        arrow = self.index("->", start)
        self.wrap(arrow + 1, self.colon(arrow))
        opening = self.index("(", start)
        if "|" not in self.values or opening >= len(self.values):
            return
        first, last = opening + 1, self.pairs[opening]
        while first < last:
            comma = self.index(",", first, last)
            colon, equals = self.index(":", first, comma), self.index("=", first, comma)
            if self.index("|", colon, equals) < equals:
                self.wrap(colon + 1, equals)
            first = comma + 1

    def assignment(self, start: int) -> None:
        """The targets if there are several, the annotation, and the value after each sign."""
        values, end = self.values, len(self.values)
        signs = [i for i in self.outer(0, end) if values[i] in _ASSIGNMENTS]
        first = signs[0] if signs else end
        annotation = self.index(":", 0, first) if "lambda" not in values[:first] else first
        if not signs and annotation == end:
            return
        target = min(first, annotation)
        if values[0] == "[" or self.index(",", 0, target) < target:
            self.wrap(0, target)
        self.wrap(annotation + 1, first)
        for sign, following in zip(signs, [*signs[1:], end]):
            self.wrap(sign + 1, following)

    def conditional_expressions(self, start: int) -> None:
        """`a if b else c`, unless it fills its brackets alone (black, `visit_test`)."""
        for i in range(start, len(self.values)):
            if self.values[i] != "if":
                continue
            first = self.first_of(i, start)
            if first is None:
                continue
            self.found.conditionals.add(i)
            last = self.last_of(i)
            if (first, last) not in self.wrapped and (
                self.values[first - 1] != "(" or self.pairs[first - 1] != last
            ):
                self.found.opening[first] += 1
                self.found.closing[last] += 1

    def first_of(self, i: int, start: int) -> int | None:
        """Where the expression of an `if` begins; None for the `if` of a comprehension."""
        limit: int | None = None
        while i > start:
            i -= 1
            value = self.values[i]
            if value in ")]}":
                i = self.pairs[i]
            elif value in "([{" or i == self.loop_in:
                break
            elif value == "for":
                return None
            elif value in _LIMITS and limit is None:
                limit = i + 1
                if value != ",":
                    break
        else:
            return start if limit is None else limit
        return i + 1 if limit is None else limit

    def last_of(self, i: int) -> int:
        """Where the expression of an `if` ends."""
        lambdas = 0
        for j in self.outer(i, len(self.values)):
            value = self.values[j]
            lambdas += value == "lambda"
            if (
                value in (",", "=", "for", "async")
                or value in ")]}"
                or (value == ":" and not lambdas)
            ):
                return j
            lambdas -= value == ":"
        return len(self.values)


_STATEMENTS: dict[str, Callable[[_Finder, int], None]] = {
    **dict.fromkeys(("return", "del"), _Finder.value),
    **dict.fromkeys(("if", "elif", "while"), _Finder.condition),
    **dict.fromkeys(
        ("class", "with", "raise", "import", "@", "except", "else", "try"), _Finder.nothing
    ),
    "for": _Finder.loop,
    "assert": _Finder.assertion,
    "from": _Finder.names,
    "def": _Finder.function,
}
