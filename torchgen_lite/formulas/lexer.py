"""Tokens of formulas. White space and comments (`/*...*/`) separate tokens and are dropped."""

from __future__ import annotations

import re
from typing import NamedTuple

IDENT = "ident"
NUMBER = "number"
STRING = "string"
PUNCT = "punct"
BAD = "bad"
END = "end"

_TOKEN = re.compile(
    r"""
      (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | [ \t\r\n\f\v]+ | /\*.*?\*/
    | (?P<punct>::|->|&&|\|\||==|!=|<=|>=|[-+*/%<>=!~&|^?:.,;()\[\]{}])
    | (?P<bad>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token and where it starts; the last one of a formula is `END`, whose text is empty."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokenize(text: str) -> list[Token]:
    """Split a formula into tokens; never fails: what is not a token is `BAD`."""
    tokens = [
        Token(match.lastgroup, match[0], match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup is not None
    ]
    tokens.append(Token(END, "", len(text.rstrip())))
    return tokens
