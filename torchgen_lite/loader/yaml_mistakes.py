"""Finds the likely mistake in YAML that can't be read, from the lines around it.

libyaml says what it expected where it stopped: seldom the mistake, and often a line too late.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span, Suggestion

# White space, dashes of lists, and a key with its colon.
_KEY = re.compile(
    r"(?P<before>[ ]*(?:-[ ]+)*)(?P<key>[^\s#:'\"{}\[\],-][^\s:]*)\s*:(?=\s|$)(?P<value>.*)"
)
_mistake = partial(Diagnostic, "TG100")


class Line(NamedTuple):
    """A line that has a key: its number, the columns of its dash and key, and the key's span."""

    number: int
    dash: int
    column: int
    key: str
    value: str
    span: Span


def find_mistake(source: Source, problem: str, context: str, at: int, began: int) -> Diagnostic:
    """The mistake behind libyaml's error `at` an offset, in a construct that `began` at another."""
    here = Span(source, at, at + 1)
    number = here.line
    if here.text == "\t" or "\t" in _indentation(source.line_text(number)):
        hint = "indent with spaces; YAML forbids tabs"
        return _mistake("a tab indents this line", Label(here, "here"), (), hint)
    opening = Label(Span(source, began, began + 1), "opened here")
    sign = opening.span.text
    if "quoted" in context:
        close = f"close it with `{sign}`" if sign in ("'", '"') else None
        return _mistake("a quote is not closed", opening, (), close)
    if "flow" in context:
        expected = f"expected `,` or `{'}' if sign == '{' else ']'}`"
        return _mistake(f"`{sign}` is not closed", Label(here, expected), (opening,))
    found = _colon_in_a_schema(source, at) or _wrong_indentation(source, number)
    found = found or _no_key(source, number, problem)
    if found is None and here.text == ":":
        place, hint = Label(here, "this starts a nested mapping"), "put the value in quotes"
        return _mistake("an unquoted value has `: ` in it", place, (), hint)
    return found or _mistake(f"this is not YAML: {problem}", Label(here, "here"))


def _indentation(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _line(source: Source, number: int) -> Line | None:
    """The line as a `Line`, or None if it has no key."""
    found = _KEY.match(source.line_text(number))
    if found is None:
        return None
    start = source.line_start(number)
    column = len(found["before"])
    span = Span(source, start + column, start + column + len(found["key"]))
    dash = found["before"].find("-")
    return Line(number, dash, column, found["key"], found["value"].strip(), span)


def _above(source: Source, number: int) -> Line | None:
    """The nearest line above with a key, skipping comments and empty lines."""
    lines = (_line(source, one) for one in range(number - 1, max(number - 50, 0), -1))
    return next(filter(None, lines), None)


def _colon_in_a_schema(source: Source, at: int) -> Diagnostic | None:
    """`(Tensor self): Tensor` and `(self: Tensor)`, as Python writes them."""
    line, column = source.line_column(at)
    text = source.line_text(line)
    if text[column - 1 : column] != ":" or "func:" not in text[: column - 1]:
        return None
    here, before = Label(Span(source, at, at + 1), "here"), text[: column - 1].rstrip()
    if before.endswith(")"):
        said = "the results of a schema come after `->`, not after `:`"
        help_ = f"write `) -> {text[column:].strip() or 'Tensor'}`"
        return _mistake(said, here, (), Suggestion(help_, here.span, " ->"))
    name = re.search(r"[(,*]\s*(\w+)$", before)
    type_ = re.match(r"\s*([^,)=]+)", text[column:])
    if name is None or type_ is None:
        return None
    said = "the type of an argument comes before its name, without a `:`"
    start = at - column + 1
    whole = Span(source, start + name.start(1), start + column + len(type_[0].rstrip()))
    right = f"{type_[1].strip()} {name[1]}"
    return _mistake(said, here, (), Suggestion(f"write `{right}`", whole, right))


def _wrong_indentation(source: Source, number: int) -> Diagnostic | None:
    """A line whose indentation matches no line above it."""
    line, above = _line(source, number), _above(source, number)
    if line is None or above is None or line.column == above.column:
        return None
    entry = above
    while entry.dash < 0 and (higher := _above(source, entry.number)) is not None:
        entry = higher
    place = Label(line.span, "begins here")
    said, first = f"`{line.key}` is indented less than what it belongs to", "the first field"
    help_ = _like(line, entry)
    if line.dash < 0 and 0 <= entry.dash == line.column:
        first = "an entry begins with `- `"
        if line.key == "func":
            said = "`- ` is missing before `func`"
            begins = line.span._replace(end=line.span.start)
            help_ = Suggestion("write `- func: ...`", begins, "- ")
        return _mistake(said, place, (Label(entry.span, first),), help_)
    if line.column < above.column:
        return _mistake(said, place, (Label(entry.span, first),), help_)
    broken = _line_without_colon(source, number - 1)
    is_beside = len(_indentation(source.line_text(number - 1))) <= above.column
    if not above.value or (broken and is_beside):
        return broken
    said = f"`{line.key}` is indented more than `{above.key}`, which already has a value"
    return _mistake(said, place, (Label(above.span, "has a value"),), _like(line, above))


def _like(line: Line, other: Line) -> Suggestion:
    text = f"indent `{line.key}` by {other.column} spaces, as `{other.key}` is"
    indentation = line.span._replace(start=line.span.start - line.column, end=line.span.start)
    return Suggestion(text, indentation, " " * other.column)


def _no_key(source: Source, number: int, problem: str) -> Diagnostic | None:
    """A line without `: ` among keys, or a value that begins with a special character."""
    text = source.line_text(number)
    start = source.line_start(number)
    if "cannot start any token" in problem and (found := re.search(r"[@`%]", text)):
        span = Span(source, start + found.start(), start + found.end())
        said = f"a value cannot begin with `{found[0]}`"
        return _mistake(said, Label(span, "here"), (), "put it in quotes")
    if "':'" not in problem:
        return None
    return _line_without_colon(source, number) or _line_without_colon(source, number - 1)


def _line_without_colon(source: Source, number: int) -> Diagnostic | None:
    text = source.line_text(number)
    key, _, value = text.strip().partition(" ")
    if not key or key[0] == "#" or _line(source, number) is not None:
        return None
    begin = source.line_start(number) + len(_indentation(text))
    span = Span(source, begin, begin + len(text.strip()))
    right = f"{key}: {value}".strip() if key.isidentifier() else "key: value"
    return _mistake("a line without `: `", Label(span, "here"), (), f"write `{right}`")
