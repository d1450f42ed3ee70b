"""Text in Markdown and in HTML, where all of it stays text.

Note [Text in Markdown]
Markdown parsers (Python-Markdown with MkDocs extensions, MyST, GitHub's) differ in what they treat
as markup. So anything that one of them might treat as markup is escaped: with a backslash where all
of them support that, and elsewhere with a character reference. So is the first character of a line
unless it is a letter, since it may begin a list, a heading or a rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple

from torchgen_lite.languages.text import one_line

_NAME = re.compile(r"[A-Za-z0-9_.:/-]+")
_BACKTICKS = re.compile("`+")
# Doubled marks, a colon with text after it (`:smile:`, `https://x`), and other markup characters.
_SPECIAL = re.compile(
    r"""
      (?P<backslash> [\\`*] | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9]) )
    | ^[^A-Za-z]
    | [<>&{}\[\]|~$^@] | :(?=\S) | ([=+-])(?=\2) | (?<=[Ww]{3})\. | !(?=\[) | [ \t](?=[ \t]|$)
    """,
    re.VERBOSE,
)


class Block(NamedTuple):
    """Lines of code in a language, and a fence that none of them ends."""

    language: str
    lines: tuple[str, ...]
    fence: str


class Phrase(NamedTuple):
    """A few words, or what is set as code because it is a name."""

    text: str
    is_code: bool


class Markup(NamedTuple):
    """A form of text: the ending of its files, a line of text and a line of code in it."""

    ending: str
    text: Callable[[str], str]
    code: Callable[[str], str]

    def phrase(self, text: str) -> Phrase:
        """A name as code, and anything else as text."""
        is_name = _NAME.fullmatch(text) is not None
        return Phrase(text if is_name else self.text(text), is_name)

    def block(self, language: str, lines: Sequence[str]) -> Block:
        shown = tuple(map(self.code, chain.from_iterable(map(str.splitlines, lines))))
        runs = chain.from_iterable(map(_BACKTICKS.findall, shown))
        return Block(language, shown, max(["``", *runs], key=len) + "`")


def markdown(text: str) -> str:
    """A line of text in Markdown: see Note [Text in Markdown].

    >>> print(markdown("# of __and__, *not* of <b>; see a_b"))
    &#35; of \\_\\_and\\_\\_, \\*not\\* of &lt;b&gt;; see a_b
    """
    return _SPECIAL.sub(_escaped, one_line(text))


_NAMED = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def _escaped(match: re.Match[str]) -> str:
    mark = match[0]
    return f"\\{mark}" if match["backslash"] else _NAMED.get(mark, f"&#{ord(mark)};")


def html(text: str) -> str:
    """A line of text in HTML.

    >>> print(html('<b> & "c"'))
    &lt;b&gt; &amp; &quot;c&quot;
    """
    return escape(one_line(text))


MARKDOWN = Markup(".md", markdown, one_line)
HTML = Markup(".html", html, html)
