"""Tokens of the schema language, in parallel lists because a schema has some forty tokens.

Comments (`# ...` to the end of the line) and white space separate tokens and are dropped.
"""

from __future__ import annotations

import re
from typing import NamedTuple

IDENT = "ident"
NUMBER = "number"
STRING = "string"
PUNCT = "punct"
BAD_STRING = "bad_string"
BAD = "bad"
END = "end"

TOKEN = re.compile(
    r"""
      (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<punct>->|::|\.\.\.|[()\[\],*!?=|:{}/+]|\.(?![0-9])|-(?![0-9.]))
    | (?P<number>-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?j?)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<bad_string>["'][^\n]*)
    | [ \t\r\n\f\v]+ | \#[^\n]*
    | (?P<bad>[^ \t\r\n\f\vA-Za-z0-9_"'()\[\],*!?=|:{}/+.\-#]+|.)
    """,
    re.VERBOSE,
)


class Tokens(NamedTuple):
    """The tokens of a text; the last one is `END`, whose text is empty."""

    kinds: list[str]
    texts: list[str]
    starts: list[int]


def tokenize(text: str, pattern: re.Pattern[str] = TOKEN) -> Tokens:
    """Split a text into tokens; never fails: what is not a token is `BAD` or `BAD_STRING`."""
    kinds = []
    texts = []
    starts = []
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind is not None:
            kinds.append(kind)
            texts.append(match[0])
            starts.append(match.start())
    kinds.append(END)
    texts.append("")
    starts.append(len(text.rstrip()))
    return Tokens(kinds, texts, starts)
