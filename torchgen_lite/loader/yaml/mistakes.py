"""Finds the likely mistake in YAML that can't be read, from the lines around it.

libyaml says what it expected where it stopped: seldom the mistake, and often a line too late.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Help, Label, Source, Span, Suggestion
from torchgen_lite.formulas.mistakes import correction_in_a_rule
from torchgen_lite.loader.yaml.keys import GLUED, PROSE

# White space, dashes of lists, and a key with its colon.
_KEY = re.compile(
    r"(?P<before>[ ]*(?:-[ ]+)*)(?P<key>[^\s#:'\"{}\[\],-][^\s:]*)\s*:(?=\s|$)(?P<value>.*)"
)
# A dash of a list, and what is behind it.
_ITEM = re.compile(r"(?P<before>[ ]*)-[ ]+(?P<item>\S.*)")
# The lines that git puts around the two sides of a conflict.
_OURS, _THEIRS = "<<<<<<< ", ">>>>>>> "
# A value in braces or brackets that begins with its key.
_PAIR = re.compile(r"\s*(?:[\w, ]+:\s+)?(?P<value>\S(?:.*\S)?)\s*", re.DOTALL)
# A list of sizes, whose items are expressions and may be quoted as one.
_SIZES = re.compile(r"\b(?:shape|stride):\s*$")
# An entry whose dash has no space behind it, or is two.
_DASHES = re.compile(r"\s*(?P<dashes>-\b|--+\s*)(?P<key>func|op):\s")
# A key and its value on the line of the field that they belong to: `dispatch: CPU: kernel`.
_INLINE = re.compile(r"(?P<key>\w[\w, ]*):[ ]")
# The fields whose values may have a colon.
_TEXTS = {"func", "op", *PROSE}
# A line whose key has no space behind its colon.
_GLUED_LINE = re.compile(rf"[ ]*(?:-[ ]+)*{GLUED.pattern}")
# What a value without quotes does not begin with, besides what `_no_key` knows.
_SIGNS = ("!", "|", ">", "&", "*", "'", '"')
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_mistake = partial(Diagnostic, "TG100")


class Line(NamedTuple):
    """A line that has a key: its number, the columns of its dash and key, and the key's span."""

    number: int
    dash: int
    column: int
    key: str
    value: str
    span: Span


def merge_conflict(source: Source, at: int) -> tuple[Diagnostic, int] | None:
    """What git leaves where two branches changed the same lines, if the offset `at` is in it, and where it ends."""
    # The line ends in front make sure that a marker begins its line.
    text = f"\n{source.text}"
    begin = text.rfind(
        f"\n{_OURS}", 0, source.line_start(source.line_column(at)[0]) + len(_OURS) + 1
    )
    end = text.find(f"\n{_THEIRS}", begin + 1)
    if begin < 0 or end < 0:
        return None
    after = source.line_start(source.line_column(end)[0] + 1)
    if at >= after:
        return None
    ends = Label(Span(source, end, after).first_line, "ends here")
    return (
        _mistake(
            "a merge conflict is not resolved",
            Label(Span(source, begin, after).first_line, "begins here"),
            (ends,),
            "keep one side, or both, and delete the lines of `<<<<<<<`, `=======` and `>>>>>>>`",
        ),
        after,
    )


def find_mistake(
    source: Source, problem: str, context: str, at: int, began: int, fields: Collection[str] = ()
) -> Diagnostic:
    """The mistake behind libyaml's error `at` an offset, in a construct that `began` at another.

    `fields` are the keys that entries of such a file may have.
    """
    here = Span(source, at, at + 1)
    number = here.line
    if here.text == "\t" or "\t" in _indentation(source.line_text(number)):
        return _mistake(
            "a tab indents this line",
            Label(here, "here"),
            (),
            "indent with spaces; YAML forbids tabs",
        )
    if "\N{NO-BREAK SPACE}" in _indentation(source.line_text(number)):
        return _mistake(
            "a no-break space indents this line",
            Label(here, "here"),
            (),
            "indent with spaces: this is the character U+00A0",
        )
    opening = Label(Span(source, began, began + 1), "opened here")
    sign = opening.span.text
    if "quoted" in context:
        return _mistake(
            "a quote is not closed",
            opening,
            (),
            f"close it with `{sign}`" if sign in ("'", '"') else None,
        )
    if "flow" in context:
        unquoted = _bracket_in_a_value(source, at, began)
        if unquoted is not None:
            return unquoted
        # Behind a sign of its own, libyaml says where the last part began.
        opened = _opening(source.text, began)
        sign = source.text[opened]
        return _mistake(
            f"`{sign}` is not closed",
            Label(here, f"expected `,` or `{_BRACKETS[sign]}`"),
            (Label(Span(source, opened, opened + 1), "opened here"),),
        )
    mistake = _colon_in_a_schema(source, at) or _dash_without_space(source, number)
    is_missed = "':'" in problem
    if mistake is None and is_missed:
        mistake = _colon_without_space(source, number)
    if mistake is None and (is_missed or here.text == ":"):
        # libyaml looks for the colon of a line until the next one, and reads both as one value.
        mistake = _colon_without_space(source, number - 1)
    if mistake is None and not _is_in_a_value(source, at):
        mistake = _wrong_indentation(source, number, fields) or _wrong_dash(source, number)
        mistake = mistake or _no_key(source, number, problem)
    if mistake is None and here.text == ":":
        return _second_colon(source, here, fields)
    mistake = mistake or _sign_before_a_value(source, number)
    return mistake or _mistake(f"this is not YAML: {problem}", Label(here, "here"))


def _second_colon(source: Source, here: Span, fields: Collection[str]) -> Diagnostic:
    """A colon that begins a mapping where none can begin: in a value, or in braces without the space behind it."""
    rest = source.text[here.end :].partition("\n")[0]
    if rest.strip() and not rest[0].isspace():
        after = Suggestion("put a space after the `:`", here, ": ")
        return _mistake("`:` has no space behind it", Label(here, "here"), (), after)
    help_: Help = (
        "put the value in quotes" if rest.strip() else "leave it out, or put the value in quotes"
    )
    line = _line(source, here.line)
    if line is not None and line.key in fields and line.key not in _TEXTS:
        after_the_field = source.text.index(":", line.span.end) + 1
        help_ = pair_on_its_line(source, after_the_field, line.column) or help_
    return _mistake(
        "an unquoted value has `: ` in it", Label(here, "this starts a nested mapping"), (), help_
    )


def pair_on_its_line(source: Source, after: int, column: int) -> Help | None:
    """The help for `dispatch: CPU: kernel`, whose field begins at a column and whose colon ends at an offset."""
    value = re.compile(r"[ ]*(?=\S)").match(source.text, after)
    if value is None:
        return None
    pair = _INLINE.match(source.text, value.end()) or GLUED.match(source.text, value.end())
    if pair is None:
        return None
    name = pair["key"]
    before = Span(source, after, pair.end())
    return Suggestion(
        f"put `{name}: ` on a line of its own, below", before, f"\n{' ' * (column + 2)}{name}: "
    )


def _is_in_a_value(source: Source, at: int) -> bool:
    """Whether a colon is a second one: `doc: note: this`."""
    line = _line(source, source.line_column(at)[0])
    return (
        line is not None
        and source.text[at] == ":"
        and bool(source.text[line.span.end : at].strip())
    )


def _dash_without_space(source: Source, number: int) -> Diagnostic | None:
    """`-func: ...`, which YAML reads as one long word, and `-- func: ...`."""
    for line_number in range(number, max(number - 50, 0), -1):
        match = _DASHES.match(source.line_text(line_number))
        if match is not None:
            start = source.line_start(line_number)
            dashes = Span(source, start + match.start("dashes"), start + match.end("dashes"))
            return _mistake(
                f"an entry begins with `- `, and not with `{match['dashes']}`",
                Label(dashes, "here"),
                (),
                Suggestion(f"write `- {match['key']}: ...`", dashes, "- "),
            )
    return None


def _sign_before_a_value(source: Source, number: int) -> Diagnostic | None:
    """A value that begins with a sign of YAML's, or with a part in quotes."""
    line = _line(source, number)
    if line is None or line.value[:1] not in _SIGNS:
        return None
    begin = source.text.index(line.value, line.span.end)
    message = f"a value without quotes cannot begin with `{line.value[0]}`"
    if line.value[0] in "'\"":
        message = "text stands behind a value in quotes"
    place = Label(Span(source, begin, begin + len(line.value)), "here")
    return _mistake(message, place, (), "put the whole value in quotes")


def _indentation(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _line(source: Source, number: int) -> Line | None:
    """The line as a `Line`, or None if it has no key."""
    match = _KEY.match(source.line_text(number))
    if match is None:
        return None
    start = source.line_start(number)
    column = len(match["before"])
    span = Span(source, start + column, start + column + len(match["key"]))
    dash = match["before"].find("-")
    return Line(number, dash, column, match["key"], match["value"].strip(), span)


def _above(source: Source, number: int) -> Line | None:
    """The nearest line above with a key, skipping comments and empty lines."""
    lines = (_line(source, one) for one in range(number - 1, max(number - 50, 0), -1))
    return next(filter(None, lines), None)


def _bracket_in_a_value(source: Source, at: int, began: int) -> Diagnostic | None:
    """`{shape: x.shape[:-1]}` and `shape: [x.shape[0], n]`: in brackets of YAML, `x.shape` ends at another bracket."""
    text = source.text
    opened = text[began : began + 1]
    bracket = text[at : at + 1]
    follows_a_name = re.match(r"[\w)\]]", text[at - 1 : at]) is not None
    if opened not in _BRACKETS or bracket not in _BRACKETS or not follows_a_name:
        return None
    start, end = _part_around(text, at, began)
    pair = _PAIR.fullmatch(text, start, end)
    if pair is None:
        return None
    item = Span(source, *pair.span("value"))
    is_of_sizes = opened == "[" and _SIZES.search(text, 0, began) is not None
    closing = _closing(text, began)
    whole = Span(source, began, closing + 1) if is_of_sizes and closing else item
    opening = Label(Span(source, began, began + 1), "opened here")
    return _mistake(
        f"`{item.text}` needs quotes: within `{opened}{_BRACKETS[opened]}`, `{bracket}` begins another value",
        Label(item, "without quotes"),
        (opening,),
        _quoted(whole, item),
    )


def _part_around(text: str, at: int, began: int) -> tuple[int, int]:
    """The part between commas, of the brackets that open at `began`, that holds the offset `at`."""
    start = began + 1
    depth = 0
    for offset in range(began + 1, len(text)):
        sign = text[offset]
        if sign in _BRACKETS:
            depth += 1
        elif depth == 0 and (sign in ",]}" or sign == "\n"):
            if offset > at:
                return start, offset
            start = offset + 1
        elif sign in ")]}":
            depth -= 1
    return start, len(text)


def _closing(text: str, began: int) -> int:
    """The offset of the bracket that closes the one at `began` on its line, or 0."""
    depth = 0
    for offset in range(began, len(text)):
        sign = text[offset]
        depth += (sign in _BRACKETS) - (sign in _BRACKETS.values())
        if sign == "\n":
            return 0
        if depth == 0:
            return offset
    return 0


# Quotes begin a value; an apostrophe in a word does not.
_QUOTED_OR_BRACKET = re.compile(r"""(?<=[\[{,:\s])(?:"(?:[^"\\]|\\.)*"|'[^']*')|[\[\]{}]""")


def _opening(text: str, before: int) -> int:
    """The offset of the last bracket of a list or mapping in an entry that is open at an offset; of the last one if none is."""
    start = text.rfind("\n- ", 0, before) + 1
    opened: list[int] = []
    for part in _QUOTED_OR_BRACKET.finditer(text, start, before + 1):
        if part[0] in "[{":
            opened.append(part.start())
        elif part[0] in "]}" and opened:
            opened.pop()
    return opened[-1] if opened else max(text.rfind(sign, 0, before + 1) for sign in "[{")


def _quoted(whole: Span, item: Span) -> Help:
    """What to write for a value without quotes; the size of a tensor has a spelling that needs none."""
    size = re.fullmatch(r"(\w+)\.shape\[(-?\d+)\]", item.text)
    other = f", or `{size[1]}.size({size[2]})` for `{item.text}`" if size else ""
    quote = next((sign for sign in "\"'" if sign not in whole.text), "")
    if not quote or "\\" in whole.text or "\n" in whole.text:
        return f"put it in quotes{other}"
    right = f"{quote}{_of_rules(whole)}{quote}"
    return Suggestion(f"write `{right}`{other}", whole, right)


def _of_rules(value: Span) -> str:
    """The value, which is no expression with quotes either if it is Python that rules of fakes do not have."""
    correction = correction_in_a_rule(value.text)
    if correction is None or not _SIZES.search(value.source.text, 0, value.start):
        return value.text
    return correction.applied(value.text)


def _colon_in_a_schema(source: Source, at: int) -> Diagnostic | None:
    """`(Tensor self): Tensor` and `(self: Tensor)`, as Python writes them."""
    line, column = source.line_column(at)
    text = source.line_text(line)
    if text[column - 1 : column] != ":" or "func:" not in text[: column - 1]:
        return None
    here = Label(Span(source, at, at + 1), "here")
    before = text[: column - 1].rstrip()
    if before.endswith(")"):
        return _mistake(
            "the results of a schema come after `->`, not after `:`",
            here,
            (),
            Suggestion(
                f"write `) -> {text[column:].strip() or 'Tensor'}`",
                here.span,
                " ->",
            ),
        )
    name = re.search(r"[(,*]\s*(\w+)$", before)
    type_ = re.match(r"\s*([^,)=]+)", text[column:])
    if name is None or type_ is None:
        return None
    start = at - column + 1
    right = f"{type_[1].strip()} {name[1]}"
    return _mistake(
        "the type of an argument comes before its name, without a `:`",
        here,
        (),
        Suggestion(
            f"write `{right}`",
            Span(source, start + name.start(1), start + column + len(type_[0].rstrip())),
            right,
        ),
    )


def _wrong_indentation(source: Source, number: int, fields: Collection[str]) -> Diagnostic | None:
    """A line whose indentation matches no line above it."""
    line = _line(source, number)
    above = _above(source, number)
    if line is None or above is None or line.column == above.column:
        return None
    entry = above
    while entry.dash < 0 and (higher := _above(source, entry.number)) is not None:
        entry = higher
    place = Label(line.span, "begins here")
    problem = f"`{line.key}` is indented less than what it belongs to"
    first = "the first field"
    neighbor = _neighbor(source, line, fields) or entry
    help_ = _like(line, neighbor)
    if _is_another_entry(line, entry):
        before = line.span._replace(start=source.line_start(number), end=line.span.start)
        margin = " " * entry.dash
        dash = Suggestion("write `- func: ...`", before, f"{margin}- ")
        other = Label(entry.span, "an entry begins with `- `")
        return _mistake("`- ` is missing before `func`", place, (other,), dash)
    if line.dash < 0 and 0 <= entry.dash == line.column:
        first = "an entry begins with `- `"
        return _mistake(problem, place, (Label(entry.span, first),), help_)
    if line.column < above.column:
        other = (
            Label(entry.span, first) if neighbor is entry else Label(neighbor.span, "beside this")
        )
        return _mistake(problem, place, (other,), help_)
    broken = _line_without_colon(source, number - 1)
    is_beside = len(_indentation(source.line_text(number - 1))) <= above.column
    if not above.value or (broken and is_beside):
        return broken
    if above.key == "func" and entry.dash < 0:
        # With the dash, `func` stands above its fields.
        margin = " " * max(line.column - 2, 0)
        before = above.span._replace(start=source.line_start(above.number), end=above.span.start)
        return _mistake(
            "`- ` is missing before `func`",
            Label(above.span, "an entry begins with `- `"),
            (),
            Suggestion("write `- func: ...`", before, f"{margin}- "),
        )
    problem = f"`{line.key}` is indented more than `{above.key}`, which already has a value"
    return _mistake(problem, place, (Label(above.span, "has a value"),), _like(line, above))


def _is_another_entry(line: Line, entry: Line) -> bool:
    """Whether a `func` without a dash begins an entry: it stands where dashes do, or the entry above has one."""
    if line.key != "func" or line.dash >= 0 or entry.dash < 0:
        return False
    if line.column == entry.dash:
        return True
    return entry.key == "func" and line.column < entry.column


def _open_above(source: Source, number: int) -> Iterator[Line]:
    """The last line of each mapping that encloses a line, the innermost first."""
    limit = sys.maxsize
    line = _above(source, number)
    while line is not None:
        if line.column < limit:
            yield line
            # The list that a dash belongs to may begin at the column of its key.
            limit = line.dash + 1 if line.dash >= 0 else line.column
        if line.dash == 0:
            return
        line = _above(source, line.number)


def _neighbor(source: Source, line: Line, fields: Collection[str]) -> Line | None:
    """The line above that is probably in the same mapping as one whose indentation fits none.

    A field of entries belongs to the entry, and any other key to the next deeper mapping.
    """
    above = list(_open_above(source, line.number))
    if line.dash >= 0 or line.key in fields:
        return None
    deeper = [other for other in above if other.column > line.column]
    return deeper[-1] if deeper else None


def _wrong_dash(source: Source, number: int) -> Diagnostic | None:
    """A dash whose column is that of no other: `   - x` below `    - y`."""
    line = _ITEM.match(source.line_text(number))
    above = None
    for line_number in range(number - 1, max(number - 50, 0), -1):
        above = _ITEM.match(source.line_text(line_number))
        if above is not None:
            break
    if line is None or above is None or line["before"] == above["before"]:
        return None
    start = source.line_start(number)
    column = len(line["before"])
    there = source.line_start(line_number) + len(above["before"])
    beside = Label(Span(source, there, there + 1), "beside this")
    return _mistake(
        "a dash is indented differently from those above",
        Label(Span(source, start + column, start + column + 1), "begins here"),
        (beside,),
        Suggestion(
            f"indent the dash by {len(above['before'])} spaces, as the one above is",
            Span(source, start, start + column),
            above["before"],
        ),
    )


def _like(line: Line, other: Line) -> Suggestion:
    return Suggestion(
        f"indent `{line.key}` by {other.column} spaces, as `{other.key}` is",
        line.span._replace(start=line.span.start - line.column, end=line.span.start),
        " " * other.column,
    )


def _no_key(source: Source, number: int, problem: str) -> Diagnostic | None:
    """A line without `: ` among keys, or a value that begins with a special character."""
    text = source.line_text(number)
    start = source.line_start(number)
    if "cannot start any token" in problem and (sign := re.search(r"[@`%]", text)):
        return _mistake(
            f"a value cannot begin with `{sign[0]}`",
            Label(Span(source, start + sign.start(), start + sign.end()), "here"),
            (),
            "put it in quotes",
        )
    if "':'" not in problem:
        return None
    return _line_without_colon(source, number) or _line_without_colon(source, number - 1)


def _colon_without_space(source: Source, number: int) -> Diagnostic | None:
    """A line such as `CPU:kernel`, which has no key."""
    line = _GLUED_LINE.match(source.line_text(number)) if number > 0 else None
    if line is None or _line(source, number) is not None:
        return None
    start = source.line_start(number)
    colon = Span(source, start + line.end() - 1, start + line.end())
    return _mistake(
        "`:` has no space behind it",
        Label(colon, "here"),
        (),
        Suggestion("put a space after the `:`", colon, ": "),
    )


def _line_without_colon(source: Source, number: int) -> Diagnostic | None:
    text = source.line_text(number)
    key, _, value = text.strip().partition(" ")
    if not key or key[0] == "#" or _line(source, number) is not None:
        return None
    begin = source.line_start(number) + len(_indentation(text))
    value = value.removeprefix("= ")
    right = f"{key}: {value}".strip() if key.isidentifier() else "key: value"
    return _mistake(
        "a line without `: `",
        Label(Span(source, begin, begin + len(text.strip())), "here"),
        (),
        f"write `{right}`",
    )
