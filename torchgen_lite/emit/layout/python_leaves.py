"""A Python statement as black sees it: leaves, pairs of brackets, and possible split points.

`a = f(x)[0] + 1` has the leaves `a`, ` =`, an optional bracket, `f`, `(`, `x`, `)`, `[` and so on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from torchgen_lite.emit.layout.python_optional import Optional, find_optional, is_operator

COMPREHENSION, COMMA, TERNARY, LOGIC, STRING, COMPARISON, DOT = 20, 18, 16, 14, 12, 10, 1
"""Split priorities: a line is split at the highest first (black, `brackets.py`)."""

_LEAF = re.compile(
    r"""[ ]*(?:
    [rRbBuUfF]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?
    |\.?[^\W\d]\w*(?:\.[^\W\d]\w*)*
    |\.\.\.|->|:=|(?:\*\*|//|<<|>>|[-+*/%@&|^<>=!])=?|[()\[\]{},:.~]
    )""",
    re.VERBOSE,
)
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_MATH = dict.fromkeys("*/%@", 4) | {"+": 5, "-": 5, "<<": 6, ">>": 6, "//": 4, "**": 2}
_MATH |= {"|": 9, "^": 8, "&": 7}
_OTHERS = dict.fromkeys(("<", ">", "==", "!=", "<=", ">=", "is"), COMPARISON)
_DIVIDERS = {**_MATH, **_OTHERS, "and": LOGIC, "or": LOGIC, "else": TERNARY}


@dataclass(slots=True)
class Leaves:
    """The leaves of a statement, one list for each fact.

    `texts` include the space before a leaf; the text of an optional bracket is blank until it
    becomes visible. `kinds` are `(`, `)`, `,`, `=`, `s` for a string, `.` for an attribute, and
    `n`. `partners` has the position of the other bracket. `depths` counts the brackets around a
    leaf. `priorities[i]` is the priority of a split after leaf `i`, at depth `levels[i]`.
    """

    keyword: str
    texts: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    partners: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    # Opening brackets of displays, and optional ones; other brackets belong to the text before
    # them.
    displays: set[int] = field(default_factory=set)
    # Opening brackets that were invisible when the statement was read.
    optional: set[int] = field(default_factory=set)
    # Closing brackets after a comma: those that ask for one item per line, and those that must be
    # opened.
    magic: list[int] = field(default_factory=list)
    not_shut: set[int] = field(default_factory=set)
    is_forced: bool = False

    def copy_forced(self) -> Leaves:
        """The same leaves, to be split at their optional brackets wherever there are any."""
        return replace(self, texts=self.texts[:], is_forced=True)

    def is_optional(self, position: int) -> bool:
        """Whether the leaf at a position is an invisible bracket."""
        return not self.texts[position].strip()

    def show(self, opening: int) -> None:
        """Make a pair of optional brackets visible."""
        if self.is_optional(opening):
            self.texts[opening] += "("
            self.texts[self.partners[opening]] += ")"


def read_leaves(statement: str, *, is_item: bool = False) -> Leaves | None:
    """The leaves of a statement or item without its indentation; None if we cannot read it."""
    words = _LEAF.findall(statement)
    if sum(map(len, words)) != len(statement):
        return None
    values = [word.lstrip() for word in words]
    pairs = _pair_brackets(values)
    if pairs is None:
        return None
    return _Builder(words, values, find_optional(values, pairs, is_item=is_item)).build()


def _pair_brackets(values: list[str]) -> dict[int, int] | None:
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for i, value in enumerate(values):
        if value in _OPENING:
            stack.append(i)
        elif value in _CLOSING:
            if not stack or _OPENING[values[stack[-1]]] != value:
                return None
            opening = stack.pop()
            pairs[opening], pairs[i] = i, opening
    return None if stack else pairs


class _Builder:
    """Reads words from left to right; stacks hold the state of the enclosing brackets."""

    def __init__(self, words: list[str], values: list[str], optional: Optional) -> None:
        self.words, self.values, self.optional = words, values, optional
        self.leaves = Leaves(optional.keyword)
        self.depth = 0
        self.brackets: list[int] = []
        self.commas: list[int] = []
        # Depths of each `for` still without `in`, and each `lambda` without its colon: commas there
        # are not split points.
        self.targets: list[int] = []
        self.parameters: list[int] = []

    def build(self) -> Leaves:
        optional = self.optional
        for i, (word, value) in enumerate(zip(self.words, self.values)):
            if i in optional.closing:
                for _ in range(optional.closing[i]):
                    self.close("", "")
            if i in optional.opening:
                self.open(word[: len(word) - len(value)], is_display=True)
                for _ in range(optional.opening[i] - 1):
                    self.open("", is_display=True)
                word = value
            if value in _OPENING:
                is_hidden = i in optional.hidden
                is_display = is_hidden or value == "{" or is_operator(self.values, i - 1)
                self.open(word.rstrip("(") if is_hidden else word, is_display=is_display)
            elif value in _CLOSING:
                self.close("" if i in optional.hidden else word, value)
            else:
                self.other(i, word, value)
        for _ in range(optional.closing.get(len(self.words), 0)):
            self.close("", "")
        return self.leaves

    def add(self, text: str, kind: str, partner: int = -1) -> None:
        leaves = self.leaves
        leaves.texts.append(text)
        leaves.kinds.append(kind)
        leaves.partners.append(partner)
        leaves.depths.append(self.depth)
        leaves.priorities.append(0)
        leaves.levels.append(0)

    def divide(self, priority: int) -> None:
        """Record that the statement may be split after the last leaf."""
        if self.leaves.priorities:
            self.leaves.priorities[-1] = priority
            self.leaves.levels[-1] = self.depth

    def open(self, text: str, *, is_display: bool) -> None:
        position = len(self.leaves.texts)
        if is_display:
            self.leaves.displays.add(position)
        if not text.strip():
            self.leaves.optional.add(position)
        self.brackets.append(position)
        self.commas.append(0)
        self.add(text, "(")
        self.depth += 1

    def close(self, text: str, value: str) -> None:
        self.depth -= 1
        opening, commas, leaves = self.brackets.pop(), self.commas.pop(), self.leaves
        position = len(leaves.texts)
        if leaves.kinds[-1] == ",":
            is_import = leaves.keyword == "from"
            is_display = opening in leaves.displays
            is_one_tuple = value == ")" and is_display and commas == 1 and not is_import
            is_one_subscript = value == "]" and not is_display and commas == 1
            if not is_one_tuple:
                leaves.not_shut.add(position)
                if not is_one_subscript:
                    leaves.magic.append(position)
        leaves.partners[opening] = position
        self.add(text, ")", opening)

    def other(self, i: int, word: str, value: str) -> None:
        """Add a leaf that is not a bracket."""
        leaves, before = self.leaves, self.leaves.kinds[-1] if i else ""
        if value == ",":
            self.add(word, ",")
            self.divide(COMMA)
            if self.brackets and self.depth == leaves.depths[self.brackets[-1]] + 1:
                self.commas[-1] += 1
        elif value == "=":
            self.add(word, "=")
        elif value[-1] in "\"'":
            if before == "s":
                self.divide(STRING)
            self.add(word, "s")
        elif value[0] == "." and value != "...":
            if before == ")":
                self.divide(DOT)
            self.add(word, ".")
        elif value in _DIVIDERS:
            if value not in _MATH or not is_operator(self.values, i - 1):
                self.divide(_DIVIDERS[value])
            self.add(word, "n")
        else:
            self.keyword(i, value)
            self.add(word, "n")
            if value in ("for", "lambda"):
                (self.targets if value == "for" else self.parameters).append(self.depth + 1)
                self.depth += 1

    def keyword(self, i: int, value: str) -> None:
        """Apply what a word before the next leaf means for split points and depth."""
        before = self.values[i - 1] if i else ""
        if value == ":":
            if self.parameters and self.parameters[-1] == self.depth:
                self.depth = self.parameters.pop() - 1
        elif value == "in":
            if self.targets and self.targets[-1] == self.depth:
                self.depth = self.targets.pop() - 1
            elif before != "not":
                self.divide(COMPARISON)
        elif value == "not":
            if self.values[i + 1] == "in":
                self.divide(COMPARISON)
        elif value == "if":
            self.divide(TERNARY if i in self.optional.conditionals else COMPREHENSION)
        elif (value == "for" and before != "async") or (value == "async" and i):
            self.divide(COMPREHENSION)
