"""A position in the tokens of a schema or a formula, and the mistakes found so far."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..diagnostics import Diagnostic, Help, Label, Locate, Suggestion
from .lexer import IDENT, TOKEN, tokenize

# After this many mistakes in one schema the rest would be noise.
MAX_ERRORS = 20
MAX_DEPTH = 32

# What word processors and other keyboards write, and what is meant; spaces and signs that cannot be seen.
_MEANT = {
    **dict.fromkeys("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}", '"'),
    **dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    **dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}", "-"),
    **dict.fromkeys("\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}", " "),
    **dict.fromkeys("\N{ZERO WIDTH SPACE}\N{WORD JOINER}", ""),
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{FULLWIDTH COMMA}": ",",
    "\N{FULLWIDTH COLON}": ":",
    "\N{FULLWIDTH LEFT PARENTHESIS}": "(",
    "\N{FULLWIDTH RIGHT PARENTHESIS}": ")",
}
# A string in quotes of a word processor.
_CURLY = re.compile(
    "[\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}]"
    r"(?P<text>[^\"]*?)"
    "[\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]"
)
_ODD_SPACE = re.compile(r"[ ]{2}|[\t\r\n\f\v]|#")
_SPACE_INSIDE = re.compile(r"(?<=\w)[ ](?=\()|(?<=[\[(.-])[ ]|[ ](?=[\]),.])")


class Abort(Exception):
    """Raised to leave an item that can't be read further; its diagnostic is already recorded."""


class Cursor:
    """Tokens with a current position. `kind` and `start` describe the current token.

    `pattern` tells tokens, and `foreign` is what is said of what is none. `opaque` are
    classes of Python, which are types, too.
    """

    pattern = TOKEN
    foreign = "TG200", "not allowed in a schema"
    opaque: Collection[str] = ()

    def __init__(self, text: str, locate: Locate) -> None:
        self.text = text
        self.locate = locate
        self.kinds, self.texts, self.starts = tokenize(text, self.pattern)
        self.at = 0
        self.kind = self.kinds[0]
        self.start = self.starts[0]
        self.last_end = 0
        self.depth = 0
        self.errors = 0
        self.diagnostics: list[Diagnostic] = []

    @property
    def token(self) -> str:
        """The text of the current token."""
        return self.texts[self.at]

    def advance(self) -> str:
        """Step over the current token and return its text; at the end, stay there."""
        at = self.at
        text = self.texts[at]
        if self.kind != "end":
            self.last_end = self.start + len(text)
            self.at = at = at + 1
            self.kind = self.kinds[at]
            self.start = self.starts[at]
        return text

    def take(self, punctuation: str) -> bool:
        """Step over the current token if it is this one, and return whether it is."""
        if self.token == punctuation:
            self.advance()
            return True
        return False

    def expect(self, punctuation: str, code: str) -> None:
        """Step over this token or abort the item."""
        if not self.take(punctuation):
            raise self.abort(code, f"expected `{punctuation}`, found {self.found()}", "here")

    def ident(self, code: str, what: str) -> str:
        """Step over an identifier and return it, or abort the item; `what` includes an article."""
        if self.kind != IDENT:
            raise self.abort(code, f"expected {what}, found {self.found()}", "not an identifier")
        return self.advance()

    def found(self) -> str:
        """The current token for a message."""
        return "the end" if self.kind == "end" else f"`{self.shorten(self.token)}`"

    @staticmethod
    def shorten(text: str) -> str:
        return text if len(text) <= 40 else f"{text[:37]}..."

    def slice_from(self, begin: int) -> str:
        """The text from token `begin` to the last one read, on one line with single spaces."""
        text = self.text[self.starts[begin] : self.last_end]
        if self.at - begin == 1 or not _ODD_SPACE.search(text):
            return text
        return _SPACE_INSIDE.sub("", " ".join(self.texts[begin : self.at]))

    def skip_item(self) -> None:
        """Go to the comma or closing parenthesis that ends the current item, or to the end."""
        depth = 0
        while self.kind != "end":
            text = self.token
            if depth == 0 and text in (",", ")", "->"):
                return
            if text in ("(", "["):
                depth += 1
            elif text in (")", "]"):
                depth = max(depth - 1, 0)
            self.advance()

    def report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        label: str = "",
        help: Help | None = None,
        secondary: tuple[Label, ...] = (),
    ) -> None:
        """Record a mistake at a range of the text."""
        self.errors += 1
        if self.errors > MAX_ERRORS:
            raise Abort
        self.diagnostics.append(
            Diagnostic(
                code,
                message,
                Label(self.locate(start, max(end, start + 1)), label),
                secondary,
                help,
            )
        )

    def report_here(
        self,
        code: str,
        message: str,
        label: str,
        help: Help | None = None,
        secondary: tuple[Label, ...] = (),
    ) -> None:
        """Record a mistake at the current token."""
        end = self.start + len(self.token)
        self.report(code, message, self.start, end, label, self.meant() or help, secondary)

    def meant(self) -> Suggestion | None:
        """The sign that the current token looks like, in place of one that only looks like it."""
        sign = self.token[:1]
        quoted = _CURLY.match(self.text, self.start)
        if quoted is not None:
            right = f'"{quoted["text"]}"'
            return Suggestion(f"write `{right}`", self.locate(*quoted.span()), right)
        if sign not in _MEANT:
            return None
        advice = f"write `{_MEANT[sign]}`"
        if not _MEANT[sign].strip():
            what = "write a space" if _MEANT[sign] else "leave it out"
            advice = f"{what}: this is the character U+{ord(sign):04X}"
        return Suggestion(advice, self.locate(self.start, self.start + 1), _MEANT[sign])

    def abort(self, code: str, message: str, label: str, help: Help | None = None) -> Abort:
        """Record a mistake at the current token; `raise` the result."""
        if self.kind == "bad":
            code, label = self.foreign
        self.report_here(code, message, label, help)
        return Abort()
