"""Which findings are wanted: `select` and `ignore` of the configuration, and comments.

    # torchgen-lite: ignore[TG402, TG405] the name is historic

Such a comment goes on a line of the entry, at the end of one, or on the lines above it. Most errors
can't be suppressed: output would be wrong. Those that concern one entry alone can, as the entry is
then left out: a vendor's file names operators of the vendor's own PyTorch, or one of them twice.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from torchgen_lite.analysis.finding import Reported
from torchgen_lite.diagnostics import (
    Diagnostic,
    Diagnostics,
    Label,
    Source,
    Span,
    code_names,
    did_you_mean,
    is_of_others,
)
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.reader import cut_words

_COMMENT = re.compile(r"#[ \t]*torchgen-lite:[ \t]*ignore\[([^\]\n]*)\]")

# At most this many wrong comments are reported per file.
_MOST_UNKNOWN = 100


# Errors that concern one entry alone, or one name in a list: a repeated name, a schema that cannot be
# read, an operator that does not exist or has another schema.
_OF_ONE_ENTRY = ("TG115", "TG2", "TG301", "TG312", "TG315", "TG316")


def _is_of_one_entry(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity == "error" and diagnostic.code.startswith(_OF_ONE_ENTRY)


def _is_suppressible(diagnostic: Diagnostic) -> bool:
    is_lint = diagnostic.severity == "warning" or diagnostic.code.startswith("TG4")
    return is_lint or _is_of_one_entry(diagnostic)


def _is_selected(diagnostic: Diagnostic, config: Config) -> bool:
    """Whether the longest prefix that names a code is in `select` and not in `ignore`.

    For an error, `ignore` has to name the whole code: it leaves entries out.
    """
    code = diagnostic.code
    if _is_of_one_entry(diagnostic):
        return code not in config.lint_ignore
    # `select` chooses among our codes; another package's apply whenever its target is named.
    least = 0 if is_of_others(code) else -1
    chosen = max((len(p) for p in config.lint_select if code.startswith(p)), default=least)
    dropped = max((len(p) for p in config.lint_ignore if code.startswith(p)), default=-1)
    return chosen > dropped


def filter_diagnostics(
    diagnostics: Iterable[Diagnostic],
    config: Config,
    functions: Sequence[NativeFunction],
    sources: Sequence[Source],
) -> Diagnostics:
    """Drop findings that the configuration or a comment excludes."""
    reported = tuple(diagnostics)
    if not any(map(_is_suppressible, reported)):
        return reported
    comments: dict[str, list[tuple[int, str]]] = {}
    for source in sources:
        for code, span in _codes(source):
            comments.setdefault(source.path, []).append((span.line, code))
    ranges = _entry_ranges(functions) if comments else {}
    return tuple(
        diagnostic
        for diagnostic in reported
        if not _is_suppressible(diagnostic)
        or (_is_selected(diagnostic, config) and not _is_suppressed(diagnostic, comments, ranges))
    )


def leave_out(
    reported: Sequence[Diagnostic],
    wanted: Sequence[Diagnostic],
    functions: Sequence[NativeFunction],
) -> tuple[list[NativeFunction], Diagnostic | None]:
    """The entries without those whose errors are `reported` and no longer `wanted`, and which those are.

    The reader has left out the names in lists that it could make nothing of.
    """
    kept = set(map(id, wanted))
    gone = (d.label.span for d in reported if _is_of_one_entry(d) and id(d) not in kept and d.label)
    places = sorted(gone, key=lambda span: (span.source.path, span.start))
    if not places:
        return list(functions), None
    names = {place: place.text for place in places}
    rest = []
    for function in functions:
        entry = function.span
        inside = [place for place in places if entry is not None and place.is_in(entry)]
        for place in inside:
            names.pop(place, "")
        if inside:
            names[inside[0]] = function.func.local_name
        else:
            rest.append(function)
    listed = quoted([names[place] for place in places if place in names])
    entries_are = "entry is" if len(names) == 1 else "entries are"
    return rest, Diagnostic(
        "TG129",
        f"{len(names)} {entries_are} left out: {listed}",
        Label(places[0], "the first"),
    )


def _codes(source: Source) -> Iterator[tuple[str, Span]]:
    """The codes in comments, each with its place; an empty one has that of the next character."""
    if "torchgen-lite:" in source.text:
        for match in _COMMENT.finditer(source.text):
            for code, begin, end in cut_words(match[1]):
                yield code, Span(source, match.start(1) + begin, match.start(1) + end)


def _entry_ranges(functions: Sequence[NativeFunction]) -> dict[str, list[tuple[int, int]]]:
    """The last and first line of each entry, in order, by file."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for function in functions:
        span = function.span
        if span is not None:
            last = span.source.line_column(max(span.end - 1, span.start))[0]
            ranges.setdefault(span.source.path, []).append((last, span.line))
    for lines in ranges.values():
        lines.sort()
    return ranges


def _is_suppressed(
    diagnostic: Diagnostic,
    comments: dict[str, list[tuple[int, str]]],
    ranges: dict[str, list[tuple[int, int]]],
) -> bool:
    codes = comments.get(diagnostic.path)
    if not codes or diagnostic.label is None:
        return False
    entries = ranges.get(diagnostic.path, [])
    here = diagnostic.start()[0]
    # A line is of the first entry that ends at or after it.
    index = bisect_left(entries, (here, 0))
    lines = [line for line, code in codes if code == diagnostic.code]
    if index < len(entries) and entries[index][1] <= here:
        return any(bisect_left(entries, (line, 0)) == index for line in lines)
    # Of a name that is not an entry, the comment is on its line.
    return here in lines


def unknown_codes(source: Source) -> Reported:
    """Comments that name a nonexistent code."""
    wrong = (comment for comment in _codes(source) if comment[0] not in code_names())
    others = (comment for comment in wrong if not is_of_others(comment[0]))
    for code, span in islice(others, _MOST_UNKNOWN):
        yield Diagnostic(
            "TG120",
            f"unknown code `{code[:40]}` in a suppression comment",
            Label(span, "not a code"),
            help=did_you_mean(code, code_names()),
        )
