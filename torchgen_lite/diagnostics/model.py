"""The values that every layer passes on: a source text, a span in it, a diagnostic about it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .code import Severity, read_code


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text and the path it is shown under (relative to the project, with forward slashes)."""

    path: str
    text: str = field(repr=False)
    _starts: list[int] = field(default_factory=list, init=False, repr=False)
    _kept: array[int] = field(default_factory=lambda: array("I"), init=False, repr=False)

    def keep(self, *offsets: int) -> int:
        """Store the starts and ends of spans for `kept`; return the number of the first.

        Each takes four bytes: a file may have 50,000 entries, few of which are ever pointed at.
        """
        number = len(self._kept)
        self._kept.extend(offsets)
        return number

    def kept(self, number: int) -> Span:
        """A stored span; the next one's number is greater by two."""
        return Span(self, self._kept[number], self._kept[number + 1])

    def locator(self, base: int = 0) -> Locate:
        """A function from offsets in a part of the text that begins at `base` to spans."""
        return lambda start, end: Span(self, base + start, base + end)

    def _line_starts(self) -> list[int]:
        # Filled on first use: most sources never carry a diagnostic.
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(end.end() for end in re.finditer("\n", self.text))
        return self._starts

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, the column in characters."""
        starts = self._line_starts()
        line = bisect_right(starts, max(offset, 0))
        return line, offset - starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """The offset at which a line begins; for a line beyond the end, the length of the text."""
        starts = self._line_starts()
        return starts[line - 1] if 1 <= line <= len(starts) else len(self.text)

    def line_text(self, line: int) -> str:
        """The text of a line without its line end; for a line beyond the end, the empty string."""
        starts = self._line_starts()
        if not 1 <= line <= len(starts):
            return ""
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r")


class Span(NamedTuple):
    """A half-open range of offsets into `source.text`.

    This is a named tuple, not a dataclass, because each schema makes some twenty spans.
    """

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.line_column(self.start)[0]

    def is_in(self, other: Span) -> bool:
        """Whether it begins in another one."""
        return self.source == other.source and other.start <= self.start <= other.end

    @property
    def first_line(self) -> Span:
        """The part on its first line, at least one character."""
        source, start, end = self
        line_end = source.text.find("\n", start, end)
        if line_end >= 0:
            end = line_end
        return tuple.__new__(Span, (source, start, end if end > start else start + 1))


Locate = Callable[[int, int], Span]
"""Gives the place of a part of a text by the offsets in that text."""


@dataclass(frozen=True, slots=True)
class Label:
    """A place, and the text shown there."""

    span: Span
    text: str = ""


class Edit(NamedTuple):
    """A text that replaces a span."""

    span: Span
    text: str


class Suggestion(NamedTuple):
    """A help that can be applied: it says `text`, and means that `new` replaces `old`.

    `old` is a word of the text that the diagnostic points at, or a span. A suggestion is safe if
    the author cannot have meant anything else. A guess at a misspelled name is not safe, and neither
    is a change that callers of the operator notice.
    """

    text: str
    old: str | Span
    new: str
    is_safe: bool = True

    def __str__(self) -> str:
        return self.text


Help = str | Suggestion
"""What to do, in words, or as something that can be applied."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` says what, `label` where, `help` what to do here.

    `context` is the span of the entry's `func:` value, shown above when the caret is elsewhere.
    `operator` is the full name of the operator concerned, if any. The code decides the severity.
    `witness` is a line that shows a difference between two versions: a call that the old one serves.
    """

    code: str
    message: str
    label: Label | None = None
    secondary: tuple[Label, ...] = ()
    help: Help | None = None
    notes: tuple[str, ...] = ()
    operator: str = ""
    context: Span | None = None
    witness: str = ""

    @property
    def severity(self) -> Severity:
        return read_code(self.code).severity

    @property
    def way_on(self) -> str:
        """The help, or else the sentence of the code's page, in the form of one."""
        sentence = read_code(self.code).help.removesuffix(".")
        return str(self.help or sentence[:1].lower() + sentence[1:])

    @property
    def effect(self) -> str:
        """What a difference between two versions does; empty for other findings."""
        return read_code(self.code).effect

    @property
    def path(self) -> str:
        """The path of the file this is about, or the empty string."""
        return self.label.span.source.path if self.label else ""

    @property
    def fix(self) -> Edit | None:
        """The help as an edit, if it is a suggestion.

        A word that it replaces must be in the label's text exactly once.
        """
        suggestion = self.help
        if not isinstance(suggestion, Suggestion):
            return None
        old = suggestion.old
        if isinstance(old, Span):
            return Edit(old, suggestion.new)
        if self.label is None:
            return None
        source, start, _ = span = self.label.span
        places = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", span.text)) if old else []
        if len(places) != 1:
            return None
        begin, end = places[0].span()
        return Edit(Span(source, start + begin, start + end), suggestion.new)

    @property
    def safe_fix(self) -> Edit | None:
        """The fix, if it can be applied without review."""
        return self.fix if isinstance(self.help, Suggestion) and self.help.is_safe else None

    def start(self) -> tuple[int, int]:
        """Line and column where the label starts; (0, 0) without a label."""
        return self.label.span.source.line_column(self.label.span.start) if self.label else (0, 0)

    def end(self) -> tuple[int, int]:
        """Line and column after the label's last character; (0, 0) without a label."""
        return self.label.span.source.line_column(self.label.span.end) if self.label else (0, 0)


Diagnostics = tuple[Diagnostic, ...]


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> Diagnostics:
    """By file, line, column, code; those without a place come first. Exact repeats are dropped."""
    keyed = {(d.path, d.start(), d.code, d.message): d for d in diagnostics}
    return tuple(keyed[key] for key in sorted(keyed))


def errors_among(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [d for d in diagnostics if d.severity == "error"]


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return bool(errors_among(diagnostics))


def placed_at(diagnostics: Iterable[Diagnostic], label: Label | None) -> list[Diagnostic]:
    """The diagnostics, where those that have no place have this one."""
    return [replace(d, label=d.label or label) for d in diagnostics]


def not_compared(default: Any = None) -> Any:
    """A field of a dataclass that says where its text was written: a value is equal to one from elsewhere."""
    return field(default=default, compare=False, repr=False)


def pick_edits(edits: Iterable[Edit | None], path: str) -> tuple[Edit, ...]:
    """The edits of one file, in order. If several overlap, the first one is taken."""
    picked: list[Edit] = []
    given = {edit for edit in edits if edit is not None}
    for edit in sorted(given, key=lambda edit: (edit.span.start, edit.span.end, edit.text)):
        last = picked[-1].span if picked else None
        is_free = last is None or (edit.span.start >= last.end and edit.span.start > last.start)
        if edit.span.source.path == path and is_free:
            picked.append(edit)
    return tuple(picked)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that are in order and do not overlap."""
    parts = []
    position = 0
    for span, new in edits:
        parts += [text[position : span.start], new]
        position = span.end
    return "".join([*parts, text[position:]])
