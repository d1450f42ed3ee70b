"""What the printer sees in a line of Python or C++: strings, brackets, commas and operators."""

from __future__ import annotations

import re
from typing import NamedTuple

_DOUBLE = r'[^"\\]*(?:\\.[^"\\]*)*"'
_SINGLE = r"[^'\\]*(?:\\.[^'\\]*)*'"
# In C++, `'` also separates digits.
STRING = rf""""{_DOUBLE}|(?<!\d)'{_SINGLE}"""


class Language(NamedTuple):
    """What differs between the two.

    `tokens` are strings, brackets, commas, and operators with the spaces around them, of which `ranks` says which bind
    least. `marks` are what opens a region that stays as it is (group 1), and what only looks so; `ends` is what closes
    the region.
    """

    comment: str
    tokens: re.Pattern[str]
    ranks: dict[str, int]
    marks: re.Pattern[str]
    ends: dict[str, str]


def _tokens(operators: str, more: str = "") -> re.Pattern[str]:
    # All alternatives begin with one of the same characters: the search is three times faster.
    strings = rf"""(?<="){_DOUBLE}|(?<=')(?<!\d'){_SINGLE}"""
    brackets = r"(?<=[()\[\]{},])"
    return re.compile(
        rf"""[()\[\]{{}},"'<> ](?:{brackets}|(?<= )(?:{operators}) |{strings}{more})"""
    )


_PRODUCT = 4
_ARITHMETIC = {" + ": 3, " - ": 3, " * ": _PRODUCT, " / ": _PRODUCT}
PYTHON = Language(
    "#",
    _tokens("for|if|else|or|and|[-+*/]|[-+*/|&]?="),
    {" for ": 0, " if ": 0, " else ": 0, " or ": 1, " and ": 2, **_ARITHMETIC},
    re.compile(rf"""(# fmt: off|\"\"\"|\'\'\')|#.*|{STRING}"""),
    {"# fmt: off": "# fmt: on", '"""': '"""', "'''": "'''"},
)
CPP = Language(
    "//",
    _tokens(r"[?:]|\|\||&&|[-+*/]|[-+*/|&]?=", r"|(?<=[\w>]<)(?!=)|(?<=[^-= ]>)"),
    {" ? ": 0, " : ": 0, " || ": 1, " && ": 2, **_ARITHMETIC},
    re.compile(rf'(// clang-format off|/\*|\bR"\()|//.*|{STRING}'),
    {"// clang-format off": "// clang-format on", "/*": "*/", 'R"(': ')"'},
)
LANGUAGES = {".py": PYTHON, ".pyi": PYTHON, ".h": CPP, ".cpp": CPP, ".cu": CPP}


class Parts(NamedTuple):
    """What a text, or the inside of a pair of brackets, has outside of further brackets: commas
    operators with their ranks, and the ends of assignments."""

    commas: list[int]
    operators: list[tuple[int, int]]
    signs: list[int]

    @property
    def is_product(self) -> bool:
        """Whether no operator binds less than multiplication."""
        return bool(self.operators) and min(self.operators)[0] == _PRODUCT

    @property
    def breaks(self) -> list[int]:
        """Where the operators that bind least stand."""
        lowest = min(self.operators, default=(0, 0))[0]
        return [at for rank, at in self.operators if rank == lowest]


class Pair(NamedTuple):
    """Outermost brackets that hold something."""

    opening: int
    closing: int
    parts: Parts


def scan(text: str, language: Language) -> tuple[Parts, list[Pair]]:
    """What the text has outside of brackets, and its outermost brackets."""
    parts = outer = Parts([], [], [])
    pairs = list[Pair]()
    stack = list[int]()
    for match in language.tokens.finditer(text):
        at = match.start()
        token = text[at]
        if token == ",":
            if len(stack) < 2:
                parts.commas.append(at)
        elif token in "([{<":
            if not stack:
                parts = Parts([], [], [])
            stack.append(at)
        elif token in ")]}>":
            # `a<b` opens no template arguments.
            while stack and text[stack[-1]] == "<" and token != ">":
                stack.pop()
            if stack and (text[stack[-1]] == "<") == (token == ">"):
                opening = stack.pop()
                if not stack:
                    if at > opening + 1:
                        pairs.append(Pair(opening, at, parts))
                    parts = outer
            elif not stack and token != ">":
                # The line began inside of brackets: what seemed an assignment names an argument.
                outer.signs.clear()
        elif token == " " and len(stack) < 2:
            rank = language.ranks.get(match[0])
            if rank is None:
                parts.signs.append(match.end())
            elif match[0] != " : " or parts.operators:
                parts.operators.append((rank, at))
    return outer, pairs
