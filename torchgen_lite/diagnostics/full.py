"""The default format: source lines, a caret, help.

error[TG103]: unknown dispatch key `CPUU`
  --> native_functions.yaml:14:5
   |
12 | - func: add.Tensor(Tensor self, Tensor other) -> Tensor
13 |   dispatch:
14 |     CPUU: add_cpu
   |     ^^^^ not a dispatch key
   |
   = help: did you mean `CPU`?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .code import read_code
from .content import content_of, place
from .model import Diagnostic, Label, Source
from .text import displayable, one_line, width

# So many warnings of a code are shown; of the others, so many are named in one line.
_SHOWN, _NAMED = 2, 8
# Shown lines that are further apart than this have `...` between them.
_GAP = 3
# Longer lines are shown as a window around the caret.
_LINE_WIDTH = 160
# What stands beside a source line, `12 | ...` and `...`, without the number; and the least that is shown of a line.
_BESIDE, _SHORTEST = 9, 30

_RESET = "\x1b[0m"
_COLORS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "frame": "\x1b[1;34m",
    "bold": "\x1b[1m",
    "help": "\x1b[1;36m",
}

Paint = Callable[[str, str], str]
"""How a text is shown in a role, such as `help`."""


class _Mark(NamedTuple):
    """A place, the sign below it, and the role of both."""

    label: Label
    sign: str
    role: str


class _Page(NamedTuple):
    """What source lines are drawn on: `gutter` columns for their numbers, and `longest` for each."""

    paint: Paint
    gutter: int
    longest: int

    def numbered(self, number: int, line: str) -> str:
        return f"{self.frame(f'{number:>{self.gutter}} |')} {line}".rstrip()

    def frame(self, text: str) -> str:
        return self.paint(text, "frame")

    def beside(self, sign: str) -> str:
        """A sign in the place of a line's number and the bar behind it."""
        return self.frame(" " * self.gutter + sign)


def plain(text: str, role: str) -> str:
    """For a file or a pipe."""
    return text


def colored(text: str, role: str) -> str:
    """For a terminal."""
    return f"{_COLORS[role]}{text}{_RESET}" if text else text


def render_full(
    diagnostics: Sequence[Diagnostic], *, paint: Paint = plain, limit: int = 50, columns: int = 0
) -> str:
    """The first `limit` diagnostics with their source lines, then a count of the rest (0: all).

    `columns` are those of the terminal, beyond which no source line goes; 0 for a file or a pipe.
    """
    shown = diagnostics if limit <= 0 else diagnostics[:limit]
    text = "\n".join(_render(d, paint, columns) for d in shown)
    rest = len(diagnostics) - len(shown)
    if rest > 0:
        text += f"\n... and {rest} more (`--max-diagnostics 0` shows all)\n"
    return text


def sum_up(diagnostics: Sequence[Diagnostic], paint: Paint = plain) -> tuple[list[Diagnostic], str]:
    """What is shown in full, and a line for the third warning of a code and all after it.

    warning[TG339]: operator without a fake, 2 more: ops.yaml:7:9 cmp::cat, ops.yaml:9:9 cmp::mul (`-v` shows all)
    """
    counts: Counter[str] = Counter()
    whole: list[Diagnostic] = []
    alike: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        code = diagnostic.code
        counts[code] += diagnostic.severity == "warning"
        if counts[code] <= _SHOWN:
            whole.append(diagnostic)
        else:
            alike.setdefault(code, []).append(diagnostic)
    lines = []
    for code, others in alike.items():
        named = [_named_shortly(diagnostic) for diagnostic in others[:_NAMED]]
        if len(others) > _NAMED:
            named.append("...")
        text = f": {read_code(code).title}, {len(others)} more: {', '.join(named)} (`-v` shows all)"
        lines.append(f"\n{paint(f'warning[{code}]', 'warning')}{paint(one_line(text), 'bold')}\n")
    return whole, "".join(lines)


def _named_shortly(diagnostic: Diagnostic) -> str:
    """The place and the operator; without a place, the message."""
    if diagnostic.label is None:
        return diagnostic.message
    return f"{place(diagnostic.label.span)} {diagnostic.operator}".rstrip()


def _render(diagnostic: Diagnostic, paint: Paint, columns: int) -> str:
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity)
    lines = [f"{head}{paint(': ' + one_line(diagnostic.message), 'bold')}"]
    places = [label.span for label in (diagnostic.label, *diagnostic.secondary) if label]
    if diagnostic.context is not None:
        places.append(diagnostic.context)
    gutter = max((len(str(place.line)) for place in places), default=1)
    longest = max(columns - gutter - _BESIDE, _SHORTEST) if columns else _LINE_WIDTH
    page = _Page(paint, gutter, longest)
    lines += _render_source(diagnostic, page)
    remarks = content_of(diagnostic).remarks
    if remarks and len(lines) > 1:
        lines.append(page.beside(" |"))
    for word, text in remarks:
        lines.append(f"{page.beside(' =')} {paint(word, 'help')}: {one_line(text)}")
    return "\n".join(lines) + "\n"


def _render_source(diagnostic: Diagnostic, page: _Page) -> Iterator[str]:
    """The snippet of the primary label's file, then one for each other place in another file."""
    primary = diagnostic.label
    context = diagnostic.context
    source = primary.span.source if primary is not None else None
    here = []
    elsewhere = []
    for label in diagnostic.secondary:
        mark = _Mark(label, "-", "frame")
        if label.span.source is source:
            here.append(mark)
        else:
            elsewhere.append(mark)
    if primary is not None:
        marks = [*here, _Mark(primary, "^", diagnostic.severity)]
        nearby = [context.line] if context is not None and context.source is source else []
        yield from _snippet("-->", marks, nearby, page)
    for mark in elsewhere:
        yield from _snippet(":::", [mark], [], page)


def _snippet(
    arrow: str,
    marks: Sequence[_Mark],
    nearby: Iterable[int],
    page: _Page,
) -> Iterator[str]:
    """The place of the last mark; numbered source lines in order, each followed by the underlines that belong to it."""
    yield f"{page.beside(arrow)} {one_line(place(marks[-1].label.span))}"
    yield page.beside(" |")
    source = marks[0].label.span.source
    wanted = {mark.label.span.line for mark in marks}
    previous = None
    for line in sorted(wanted.union(nearby)):
        if previous is not None and line - previous > _GAP:
            yield "..."
        elif previous is not None:
            for between in range(previous + 1, line):
                shown = displayable(source.line_text(between))
                yield page.numbered(between, _window(shown, 0, page.longest)[0])
        on_line = [mark for mark in marks if mark.label.span.line == line]
        yield from _marked_line(source, line, on_line, page)
        previous = line


def _marked_line(
    source: Source,
    line: int,
    marks: Sequence[_Mark],
    page: _Page,
) -> Iterator[str]:
    raw = source.line_text(line)
    placed = []
    for mark in marks:
        span = mark.label.span
        column = source.line_column(span.start)[1] - 1
        indent = width(displayable(raw[:column]))
        covered = raw[column : column + span.end - span.start]
        length = max(width(displayable(covered)), 1)
        placed.append((indent, length, mark.sign, mark.role, mark.label.text))
    focus = max(placed, key=lambda p: p[2], default=(0,))[0]
    text, cut = _window(displayable(raw), focus, page.longest)
    yield page.numbered(line, text)
    # Rightmost first, so that the text of a left label does not run under a right one.
    for indent, length, sign, role, label in sorted(placed, reverse=True):
        start = max(indent - cut, 0)
        shown = min(length, max(len(text) - start, 1))
        under = sign * max(shown, 1)
        note = f"{under} {one_line(label)}".rstrip()
        yield f"{page.beside(' |')} {' ' * start}{page.paint(note, role)}"


def _window(text: str, focus: int, longest: int) -> tuple[str, int]:
    """The part of a long line around `focus`, and how many columns were cut on its left."""
    if len(text) <= longest:
        return text, 0
    begin = 0 if focus < longest - longest // 4 else focus - longest // 2
    end = begin + longest
    left = "..." if begin > 0 else ""
    right = "..." if end < len(text) else ""
    return f"{left}{text[begin:end]}{right}", begin - len(left)
