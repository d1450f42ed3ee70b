"""What a diagnostic says. Each format wraps this in its own way, and leaves nothing out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .model import Diagnostic, Label, Span

# Labels that say no more than the caret does.
_POINTS = re.compile(r"|here|(in )?this \w+")


class Content(NamedTuple):
    """The parts of a diagnostic, in the order in which they are read.

    `remarks` are the lines below it: each is a `help`, a `note`, a `witness` or an `effect`, and its text. `is_of_page`: the first
    of them is the sentence of the code's page.
    """

    message: str
    label: str
    remarks: tuple[tuple[str, str], ...]
    others: tuple[Label, ...]
    is_of_page: bool

    @property
    def headline(self) -> str:
        return f"{self.message}: {self.label}" if self.label else self.message

    @property
    def lines(self) -> list[str]:
        """For a format that has other means to point at other places."""
        return [self.headline, *[f"{word}: {text}" for word, text in self.remarks]]

    @property
    def in_two(self) -> tuple[str, str]:
        """The headline, and everything else about this place as one text."""
        remarks = self.remarks[1:] if self.is_of_page else self.remarks
        return self.headline, self._joined(remarks)

    @property
    def as_row(self) -> tuple[str, str]:
        """The same with the help of the code's page, for a table whose readers do not have the page at hand."""
        return self.headline, self._joined(self.remarks)

    def _joined(self, remarks: Sequence[tuple[str, str]]) -> str:
        parts = [text if word == "help" else f"{word}: {text}" for word, text in remarks]
        return "; ".join([*parts, *self.pointers])

    @property
    def pointers(self) -> list[str]:
        """The other places, for a format that is text alone."""
        return [f"{place(other.span)}: {other.text}" for other in self.others]


def content_of(diagnostic: Diagnostic) -> Content:
    """The parts of a diagnostic; a label that adds nothing is empty, and `see here` at another place."""
    label = diagnostic.label.text if diagnostic.label else ""
    is_said = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", diagnostic.message) is not None
    witness = f"`{diagnostic.witness}`" if diagnostic.witness else ""
    remarks = [("help", diagnostic.way_on)]
    remarks += [("note", note) for note in diagnostic.notes]
    remarks += [("witness", witness), ("effect", diagnostic.effect)]
    return Content(
        diagnostic.message,
        "" if _POINTS.fullmatch(label) or is_said else label,
        tuple([(word, text) for word, text in remarks if text]),
        tuple([Label(other.span, other.text or "see here") for other in diagnostic.secondary]),
        bool(diagnostic.way_on and not diagnostic.help),
    )


def place(span: Span) -> str:
    """`native_functions.yaml:14:5`."""
    line, column = span.source.line_column(span.start)
    return f"{span.source.path}:{line}:{column}"
