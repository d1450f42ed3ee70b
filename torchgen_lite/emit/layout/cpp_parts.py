"""A C++ statement as text, brackets, and the places where a line may end, with what each costs.

The costs are clang-format's: twenty for each pair of brackets around a break, and what
`TokenAnnotator::splitPenalty` says about the two words beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

CONTINUATION = 4
COSTLY = 2_000
"""What costs this much is only done where a line would be too long without."""

_RETURN_TYPE, _MEMBER, _SCOPE = 100_000, 100_000, 1_000_000
_DEPTH = 20
# How much deeper brackets are than what stands around them.
_DEPTHS = {"(": 1, "[": 10, "{": 1, "<": 12}
_PRECEDENCE = {"||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10}
_PRECEDENCE |= {"<=": 10, ">=": 10, "<<": 12, "+": 13, "-": 13, "*": 14, "/": 14, "%": 14}

_WORD = re.compile(
    r"""[ ]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'|\d[\w.]*|\w+|::|->|\.\.\.|&&|\|\||<<|//|[-+*/%&|^<>=!]=|.)"""
)
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# What begins statements that declare nothing.
_STATEMENTS = frozenset(
    "return if while for switch else throw using static_assert case new delete goto }".split()
)
_CONDITIONS = frozenset(("if", "while", "switch"))
_TRAILING = frozenset(("const", "noexcept", "override", "final"))


class Break(NamedTuple):
    """A place where a line may end; `flat` is what stands there if it doesn't.

    A line ends before the `name` of a function if its type takes several. Of `segment`s, which are `.f()` behind
    another call, all begin lines or none, and then no brackets behind the first are open. An `answer` stands
    below its `question`.
    """

    cost: int
    flat: str
    indent: int = CONTINUATION
    kind: Literal["", "name", "segment", "question", "answer"] = ""


@dataclass
class Brackets:
    """Brackets that may be open: `first` is what the line break behind the opening one costs, `comma` each other.

    With a comma behind the last item (`has_comma`) they are open. If all that they hold is a `call`, its brackets may be
    open instead. What else is `simple` may be divided where it stands.
    """

    opening: str
    items: list[Parts]
    closing: str
    first: int
    comma: int
    indent: int = CONTINUATION
    has_comma: bool = False
    call: Parts | None = None
    is_simple: bool = False

    @cached_property
    def flat(self) -> str:
        """All of it on one line."""
        comma = "," if self.has_comma else ""
        return f"{self.opening}{', '.join(map(flat_text, self.items))}{comma}{self.closing}"


Part = str | Break | Brackets
Parts = list[Part]


def flat_text(parts: Parts) -> str:
    """The parts on one line."""
    return "".join(part if isinstance(part, str) else part.flat for part in parts)


def read_parts(statement: str) -> Parts | None:
    """The parts of a statement without its indentation; None if it is none that we can read."""
    words = _WORD.findall(statement)
    values = [word.lstrip(" ") for word in words]
    partners = _pair(words, values)
    if partners is None or "".join(words) != statement or not _is_simple(values):
        return None
    return _Reader(words, values, partners).statement()


def _pair(words: list[str], values: list[str]) -> dict[int, int] | None:
    """The other bracket of each; None if one has none. That of a block at the end needs none."""
    partners: dict[int, int] = {}
    stack: list[int] = []
    for i, value in enumerate(values):
        if value == "<" and not _is_angle(words, values, i):
            continue
        if value == ">" and (not stack or values[stack[-1]] != "<"):
            continue
        if value in _OPENING:
            stack.append(i)
        elif value in (")", "]", "}", ">"):
            if not stack or _OPENING[values[stack[-1]]] != value:
                return None
            partners[i] = stack.pop()
            partners[partners[i]] = i
    if stack == [len(values) - 1] and values[-1] == "{":
        stack.pop()
    return None if stack else partners


def _is_simple(values: list[str]) -> bool:
    """Whether nothing is in a statement that is not laid out here."""
    inside = values[:-1]
    is_initialised = any(pair == (")", ":") for pair in pairwise(values)) and "?" not in values
    return ";" not in inside and "//" not in values and not is_initialised


def _is_angle(words: list[str], values: list[str], i: int) -> bool:
    before = values[i - 1] if i else ""
    if before == "template":
        return True
    return words[i] == "<" and before[:1].isidentifier() and before != "operator"


class _Reader:
    def __init__(self, words: list[str], values: list[str], partners: dict[int, int]) -> None:
        self.words, self.values, self.partners = words, values, partners
        self.names: set[int] = set()
        self.function = self.parameters = -1
        self.find_names()

    def find_names(self) -> None:
        """The name of a function or a variable that is declared, and those of parameters."""
        values = self.values
        if values[0] in _STATEMENTS:
            return
        for i in self.outer(0, len(values)):
            if values[i] == "=" or values[i] in _STATEMENTS:
                return
            if self.words[i] == "{" and self.is_name(i - 1):
                self.names.add(i - 1)
                return
            if values[i] == "(":
                name = i - 1
                while name >= 2 and values[name - 1] == "::" and self.words[name - 1] == "::":
                    name = self.partners.get(name - 2, name - 2)
                    name = name - 1 if values[name] == "<" else name
                if not self.is_name(name):
                    return
                self.function, self.parameters = name, i
                self.names.add(name)
                for start, end in self.items(i):
                    equals = next((j for j in self.outer(start, end) if values[j] == "="), end)
                    if equals - 1 > start and self.is_name(equals - 1):
                        self.names.add(equals - 1)
                return

    def is_name(self, i: int) -> bool:
        return i > 0 and self.words[i][:1] == " " and self.values[i][:1].isidentifier()

    def outer(self, start: int, end: int) -> Iterator[int]:
        """The positions that are not inside brackets; those of opening ones are."""
        i = start
        while i < end:
            yield i
            i = max(self.partners.get(i, i), i) + 1

    def items(self, opening: int) -> list[tuple[int, int]]:
        """Where the items in brackets begin and end."""
        start, end = opening + 1, self.partners[opening]
        commas = [i for i in self.outer(start, end) if self.values[i] == ","]
        return list(zip([start, *(i + 1 for i in commas)], [*commas, end]))

    def statement(self) -> Parts:
        return self.parts(0, len(self.values), 1)

    def parts(self, start: int, end: int, depth: int, indent: int = CONTINUATION) -> Parts:
        """Words between two positions, `depth` brackets deep."""
        parts: Parts = []
        is_conditional = False
        i = start
        while i < end:
            word, value = self.words[i], self.values[i]
            place = self.place(i, depth, is_conditional) if i > start else None
            is_conditional = is_conditional or value == "?"
            if i == start:
                word = value
            elif place is not None:
                parts.append(place)
                word = value
            closing = self.partners.get(i, -1)
            if closing <= i + 1 or self.function < i < self.parameters:
                parts.append(word)
                i += 1
                continue
            if value == "(" and i and self.values[i - 1] in _CONDITIONS:
                parts.append(word)
                parts += self.parts(i + 1, closing, depth + 1, 2 * CONTINUATION)
                parts.append(")")
            else:
                parts.append(self.brackets(i, word, depth, indent))
            i = closing + 1
        return _merged(parts)

    def brackets(self, i: int, word: str, depth: int, indent: int) -> Brackets:
        """What stands in brackets: arguments, parameters, template arguments, a list in braces."""
        items, value = self.items(i), self.values[i]
        has_comma = len(items) > 1 and items[-1][0] == items[-1][1]
        items = items[:-1] if has_comma else items
        inner = depth + _DEPTHS[value]
        if value == "<" or value == "(" and self.parameters >= 0:
            first = 100
        else:
            first = 1 if len(items) > 1 else 19
        parts = [self.parts(start, end, inner) for start, end in items]
        call = None
        if len(parts) == 1 and self.values[i - 1].isidentifier() and _is_call(parts[0]):
            call = parts[0] if indent == CONTINUATION else self.parts(*items[0], inner, indent)
        return Brackets(
            word,
            parts,
            self.values[self.partners[i]],
            _DEPTH * inner + first,
            _DEPTH * inner + 1,
            indent,
            has_comma,
            call,
            len(items) == 1 and (value == "<" or self.values[i + 1] in ("&", "*", "!")),
        )

    def place(self, i: int, depth: int, is_conditional: bool) -> Break | None:
        """The break that may stand before a word, if any."""
        word, value, before = self.words[i], self.values[i], self.values[i - 1]
        base, flat = _DEPTH * depth, word[: len(word) - len(value)]
        if i in self.names:
            if i == self.function:
                return Break(base + _RETURN_TYPE, flat, indent=0, kind="name")
            return Break(base + 200, flat)
        if before == "=" and flat:
            return Break(base + (110 if self.parameters >= 0 else 160 if value == "{" else 2), flat)
        if before in _PRECEDENCE and flat and self.words[i - 1][:1] == " ":
            return Break(base + _PRECEDENCE[before], flat)
        if value == "?":
            return Break(base + 3, flat, kind="question")
        if value == ":" and is_conditional:
            return Break(base + 3, flat, kind="answer")
        if value == ":" and self.values[0] in ("struct", "class"):
            return Break(base + 3, flat)
        if value in _TRAILING and before == ")":
            return Break(base + (150 if len(value) < 10 else 100), flat)
        if value == "->" and flat:
            return Break(base + 110, flat)
        if value in (".", "->"):
            return Break(base + _MEMBER, flat, kind="segment" if before == ")" else "")
        if before == "::" and i > 1 and not flat:
            return Break(base + _SCOPE, flat)
        return None


def _is_call(parts: Parts) -> bool:
    """Whether the parts are `f(a)` or `a.f(b)`, with plain names."""
    *name, last = parts
    is_plain = re.fullmatch(r"\w+(?:(?:\.|->)\w+)*", flat_text(name)) is not None
    return is_plain and isinstance(last, Brackets) and last.opening == "("


def _merged(parts: Parts) -> Parts:
    """The same with texts that follow each other put together."""
    merged: Parts = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return merged
