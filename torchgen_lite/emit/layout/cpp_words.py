"""A C++ statement as words, each with a kind, as found by clang-format's `AnnotatingParser`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from torchgen_lite.dialects.cpp_text import KEYWORDS

ASSIGNMENT, CONDITIONAL, EQUALITY, RELATIONAL, UNARY, MEMBER = 2, 3, 9, 10, 16, 17
"""Operator precedences that matter here; the others are in `_PRECEDENCE`."""
_PRECEDENCE = {"||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10}
_PRECEDENCE |= {"<=": 10, ">=": 10, "<<": 12, "+": 13, "-": 13, "*": 14, "/": 14, "%": 14}
_PRECEDENCE |= dict.fromkeys("= += -= *= /= %= &= |= ^=".split(), ASSIGNMENT)

_REST = r"""\d(?:[eE][-+]|[\w.])*|->|\.\.\.|&&|\|\||<<|//|[-+*/%&|^<>=!]=|."""
_STRINGS = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'"""
_WORD = re.compile(rf"[ ]*(?:{_STRINGS}|(?:::)?[^\W\d]\w*(?:::[^\W\d]\w*)*|::|{_REST})")
_SHORT_WORD = re.compile(rf"[ ]*(?:{_STRINGS}|[^\W\d]\w*|::|{_REST})")
_PARTNERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
# Words that begin a statement other than a declaration.
_STATEMENTS = frozenset(
    "return if while for switch else throw using static_assert case new delete goto }".split()
)
_TYPES = frozenset(
    "auto bool char char8_t double float int long short signed unsigned void wchar_t".split()
)
# A comment, and an operator with rules of its own.
_OTHERS = frozenset(("//", "<<"))
_TRAILING = frozenset(("const", "noexcept", "override", "final"))
STARS = frozenset(("*", "&", "&&"))


@dataclass(slots=True)
class Word:
    """A word; `kind` is an opening or closing bracket, `binary`, `unary`, `pointer`, `?`, `:`, `.`, `name`
    and so on, or empty.

    `depth` counts the brackets around it. `partner` is the other bracket, and `operands` the number
    of items in brackets. `cpp_operations.py` finds the `next_operator` of a chain of calls, the
    precedences of the operations that begin here (`opens`, innermost first), and how many end.
    `cpp_breaks.py` finds whether the word may or must begin a line, and at what cost.
    """

    text: str
    space: int
    kind: str = ""
    is_opening: bool = False
    is_closing: bool = False
    is_identifier: bool = False
    depth: int = 0
    may_begin: bool = False
    must_begin: bool = False
    cost: int = 0
    precedence: int = -1
    partner: int = -1
    operands: int = 0
    next_operator: int = -1
    opens: list[int] = field(default_factory=list)
    closes: int = 0
    starts_binary: bool = False
    ends_binary: bool = False


def read_words(statement: str, *, is_short: bool = False) -> list[Word] | None:
    """The words of a statement without its indentation; None if we cannot read it.

    A qualified name is one word, or several if `is_short`.
    """
    found = (_SHORT_WORD if is_short else _WORD).findall(statement)
    values = [word.lstrip(" ") for word in found]
    words = [
        Word(value, len(word) - len(value), is_identifier=_is_identifier(value))
        for word, value in zip(found, values)
    ]
    if "".join(found) != statement or not _pair(words) or not _is_simple(words):
        return None
    reader = _Reader(words)
    reader.find_kinds()
    reader.find_names()
    return words


def _is_identifier(text: str) -> bool:
    is_word = text[0].isidentifier() or (text[:2] == "::" and len(text) > 2)
    return is_word and text not in KEYWORDS


def _pair(words: list[Word]) -> bool:
    """Pair the brackets. The one that opens a block at the end needs no partner."""
    stack: list[int] = []
    for i, word in enumerate(words):
        value = word.text
        if value == "<" and not _is_angle(words, i):
            continue
        if value == ">" and (not stack or words[stack[-1]].text != "<"):
            continue
        if value in _PARTNERS:
            if value == "{" and i == len(words) - 1:
                break
            word.kind, word.is_opening = value, True
            stack.append(i)
        elif value in (")", "]", "}", ">"):
            if not stack or _PARTNERS[words[stack[-1]].text] != value:
                return False
            word.kind, word.is_closing, word.partner = value, True, stack.pop()
            words[word.partner].partner = i
    return not stack


def _is_angle(words: list[Word], i: int) -> bool:
    if not i or (words[i].space and words[i - 1].text != "template"):
        return False
    before = words[i - 1]
    return before.is_identifier or (before.text in KEYWORDS and before.text != "operator")


def _is_simple(words: list[Word]) -> bool:
    """Whether a statement has only what can be laid out here."""
    for before, word in pairwise(words):
        if before.text == ";" or before.text[0] == word.text[0] == '"':
            return False
        if word.kind == "[" and not before.is_identifier and not before.is_closing:
            return False
    values = {word.text for word in words}
    is_initialised = any(b.kind == ")" and w.text == ":" for b, w in pairwise(words))
    return words[0].kind != "[" and not values & _OTHERS and (not is_initialised or "?" in values)


class _Reader:
    def __init__(self, words: list[Word]) -> None:
        self.words = words

    def find_kinds(self) -> None:
        words, first = self.words, self.words[0].text
        questions = [0]
        for i, word in enumerate(words):
            value = word.text
            if word.is_closing:
                questions.pop()
            word.depth = len(questions) - 1 + word.is_closing
            if word.is_opening:
                questions.append(0)
                continue
            if word.kind:
                continue
            if value in (",", ";", "::", "?"):
                word.kind = value
                questions[-1] += value == "?"
            elif value == ":":
                word.kind = self.colon(questions, first)
            elif value in (".", "->"):
                word.kind = "arrow" if word.space else "."
            elif value in _PRECEDENCE or value in ("!", "~"):
                word.kind = self.operator(i)
            elif value[0] == '"':
                word.kind = "string"
            word.precedence = self.precedence(word)

    def colon(self, questions: list[int], first: str) -> str:
        if questions[-1]:
            questions[-1] -= 1
            return ":"
        if first == "for":
            return "range"
        return "inheritance" if first in ("struct", "class") else ""

    def operator(self, i: int) -> str:
        """Whether an operator has two operands, one, or belongs to a type."""
        words = self.words
        after = words[i + 1] if i + 1 < len(words) else Word("", 0)
        before = words[i - 1] if i else Word("", 0, is_opening=True)
        if words[i].space and after.space:
            return "binary"
        if words[i].text not in STARS:
            return "unary"
        is_first = before.is_opening or before.kind == "unary" or words[i].space
        return "unary" if is_first and not after.is_closing else "pointer"

    def precedence(self, word: Word) -> int:
        if word.kind == "binary":
            return _PRECEDENCE[word.text]
        kinds = {";": 0, ",": 1, "range": 1, "?": CONDITIONAL, ":": CONDITIONAL, ".": MEMBER}
        return kinds.get(word.kind, -1)

    def outer(self, start: int, end: int) -> Iterator[int]:
        """The positions outside brackets, which include opening brackets."""
        i = start
        while i < end:
            yield i
            i = max(self.words[i].partner, i) + 1

    def find_names(self) -> None:
        """Names that are declared, including parameters; those of functions have their own kind."""
        words = self.words
        for i, word in enumerate(words):
            word.operands = self.operands(i) if word.is_opening else 0
            if i and not word.kind and self.is_name(i):
                word.kind = "name"
        if words[0].text in _STATEMENTS:
            return
        for i in self.outer(0, len(words)):
            if words[i].precedence == ASSIGNMENT:
                return
            if words[i].kind == "(":
                name = i - 1
                while name > 0 and (words[name - 1].kind == "::" or self.is_member(name)):
                    name -= 1 if words[name - 1].kind == ">" else 2
                    name = words[name].partner - 1 if words[name].kind == ">" else name
                if words[name].kind == "name" and self.is_parameters(i):
                    words[name].kind = "function"
                    self.find_trailing(words[i].partner)
                return

    def is_name(self, i: int) -> bool:
        """Whether an identifier follows a type."""
        words = self.words
        after = words[i + 1] if i + 1 < len(words) else Word("", 0, "pointer")
        if not words[i].is_identifier or after.kind in ("pointer", "string") or self.is_member(i):
            return False
        i -= 1
        while i > 0 and words[i].text == "const":
            i -= 1
        before = words[i]
        return before.kind in (">", "pointer") or before.text in _TYPES or before.is_identifier

    def is_member(self, i: int) -> bool:
        """Whether a word is the `::name` of a template that the preceding angle brackets close."""
        return self.words[i].text[:2] == "::" and not self.words[i].space

    def operands(self, i: int) -> int:
        inside = list(self.outer(i + 1, self.words[i].partner))
        return sum(self.words[j].text == "," for j in inside) + 1 if inside else 0

    def is_parameters(self, opening: int) -> bool:
        """Whether brackets hold parameters rather than arguments."""
        end = self.words[opening].partner
        if self.words[-1].text == "{" or end == opening + 1:
            return True
        for i in self.outer(opening + 1, end):
            word = self.words[i]
            if (
                word.kind in ("pointer", "name")
                or word.text in _TYPES
                or word.text in ("const", "...")
            ):
                return True
            if word.kind in ("{", "string") or word.text[0].isdigit():
                return False
        return False

    def find_trailing(self, closing: int) -> None:
        for word in self.words[closing + 1 :]:
            if word.text not in _TRAILING:
                return
            word.kind = "trailing"
