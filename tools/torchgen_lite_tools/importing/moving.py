"""What of a library in C++ can move to entries, and its files without what has moved.

Note [All of an operator, or nothing]
An operator moves if entries express all that the files register for it. Of what stays, nothing is touched: its
statements go on registering, beside the generated ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import PurePath

from torchgen_lite.diagnostics import Diagnostic, Source, Span
from torchgen_lite_tools.importing.cpp_functions import Function
from torchgen_lite_tools.importing.cpp_preprocessor import without_comments, without_quoted
from torchgen_lite_tools.importing.library import Library

HEADERS = (".cuh", ".h", ".hpp")


def moving_operators(library: Library, problems: Iterable[Diagnostic]) -> frozenset[str]:
    """The operators that move; `problems` are what is wrong with them besides, each with its place."""
    places = [one.label.span for one in problems if one.label is not None]
    defined = {one.name for one in library.definitions if not one.binder}
    stay = {
        name
        for one in library.read
        for name in one.operators
        if name not in defined or not one.is_whole or any(place.is_in(one.span) for place in places)
    }
    stay |= library.refused
    grown = True
    while grown:  # Of one statement, all operators move or none, and of what one line expands to.
        kept = {one.span for one in library.read if one.operators & stay or not one.operators}
        more = {name for one in library.read if one.span in kept for name in one.operators}
        grown, stay = not more <= stay, stay | more
    return frozenset(defined - stay)


def without_statements(
    library: Library, names: frozenset[str]
) -> tuple[list[tuple[Source, str]], bool]:
    """The files without what registers these operators, and whether they still define a namespace, or never did."""
    texts, kept, is_defined = list[tuple[Source, str]](), False, False
    by_file = sorted(library.read, key=lambda one: (one.span.source.path, one.block.start))
    for _, in_file in groupby(by_file, key=lambda one: one.span.source.path):
        gone = list[Span]()
        for span, in_block in groupby(in_file, key=lambda one: one.block):
            block = list(in_block)
            moved = [one for one in block if one.operators and one.operators <= names]
            gone += [span] if moved == block else [one.span for one in moved]
            is_defined |= block[0].defines
            kept |= block[0].defines and moved != block
        if gone:
            source = gone[0].source
            blank = without_quoted(source.text)
            cuts = [_lines(source.text, one.start, _end(blank, one)) for one in gone]
            texts.append((source, _cut(source.text, cuts)))
    return texts, kept or not is_defined


def _end(blank: str, span: Span) -> int:
    """The end of a block, of an `#include`, or of a statement: behind its semicolon, or a macro's call that has none."""
    if blank[span.start] == "#":
        return blank.find("\n", span.start) if "\n" in blank[span.start :] else len(blank)
    if blank[span.end - 1] == "}":
        return span.end
    depth = 0
    for at in range(span.start, len(blank)):
        depth += (blank[at] in "([{") - (blank[at] in ")]}")
        if depth == 0 and blank[at] == ";":
            return at + 1
        if depth == 0 and blank[at] == ")" and not re.compile(r"\s*[.;]").match(blank, at + 1):
            return at + 1
    return len(blank)


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines, if nothing else is on them, with the comment right above."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end) + 1 or len(text)
    if text[first:start].strip() or without_comments(text[end:last]).strip():
        return start, end
    above = re.search(r"(?:^[ \t]*//[^\n]*\n)+\Z", text[:first], re.M)
    return above.start() if above else first, last


def _cut(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """The text without these parts, and without the second of two blank lines that meet."""
    parts, at = list[str](), 0
    for start, end in sorted(set(cuts)):
        parts.append(text[at:start])
        at = max(at, end)
        if text[:start].endswith("\n\n") and text.startswith("\n", at):
            at += 1
    kept = "".join([*parts, text[at:]])
    return kept if text.endswith("\n\n") else re.sub(r"\n{2,}\Z", "\n", kept)


def kernel_headers(library: Library) -> tuple[list[str], str]:
    """The headers that declare the kernels, and the text of one for those that none of them declares."""
    headers, undeclared = dict[str, None](), list[Function]()
    for kernel in library.implementations:
        declared = [one for one in kernel.functions if _file(one).endswith(HEADERS)]
        headers.update(dict.fromkeys(map(_file, declared)))
        undeclared += [] if declared else kernel.functions
    undeclared.sort(key=lambda one: (_file(one), one.spans[-1].start))
    lines = list(dict.fromkeys(map(_declaration, undeclared)))
    text = "\n".join(["#pragma once", "", "#include <torch/types.h>", "", *lines, ""])
    return list(headers), text if lines else ""


def _file(function: Function) -> str:
    return PurePath(function.spans[-1].source.path).as_posix()


def _declaration(function: Function) -> str:
    *around, name = function.path
    given = ", ".join(" ".join(one.text.partition("=")[0].split()) for one in function.spans[:-1])
    line = f"{function.returns} {name}({given});"
    return f"namespace {'::'.join(around)} {{ {line} }}" if around else line
