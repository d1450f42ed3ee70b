"""Where C++ files name a kernel and its parameters: a search for words outside comments and strings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.names import Scope
from torchgen_lite_tools.lsp.sources import CPP, written_sources

_IGNORED = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"


def scopes_of_function(
    analysis: Analysis, name: str, namespaces: Collection[str]
) -> Iterator[Scope]:
    """The files that name a function of one of these namespaces, each by its last part."""
    for source in written_sources(analysis, CPP):
        names = []
        for span in _words(source, 0, len(source.text), name):
            before = source.text[max(span.start - 80, 0) : span.start]
            qualifier = re.search(r"(\w+)\s*::\s*$", before)
            if qualifier is None or qualifier[1] in namespaces:
                names.append(span)
        if names:
            yield Scope(Span(source, 0, len(source.text)), tuple(names))


def scopes_of_parameter(analysis: Analysis, function: str, name: str) -> Iterator[Scope]:
    """The definitions of a function that have the parameter."""
    for source in written_sources(analysis, CPP):
        for span in _definitions(source, function):
            names = []
            for word in _words(source, span.start, span.end, name):
                before = source.text[: word.start].rstrip()
                if not before.endswith("::"):
                    names.append(word)
            if names:
                yield Scope(span, tuple(names))


def _words(source: Source, start: int, end: int, name: str) -> Iterator[Span]:
    """A word where it is no member of something."""
    pattern = re.compile(rf"{_IGNORED}|(?<!\w){re.escape(name)}(?!\w)", re.DOTALL)
    for word in pattern.finditer(source.text, start, end):
        before = source.text[: word.start()]
        is_member = before.endswith((".", "->"))
        if word[0] == name and not is_member:
            yield Span(source, word.start(), word.end())


def _definitions(source: Source, function: str) -> Iterator[Span]:
    """From the parameters of each definition to the end of its body."""
    text = source.text
    for word in _words(source, 0, len(text), function):
        behind = re.compile(r"\s*\(").match(text, word.end)
        if behind is None:
            continue
        closed = _closed(text, behind.end() - 1, "()")
        body = re.compile(r"[\s\w]*\{").match(text, closed)
        if closed and body is not None:
            yield Span(source, behind.end(), _closed(text, body.end() - 1, "{}"))


def _closed(text: str, start: int, brackets: str) -> int:
    """The end of what a bracket opens; 0 if nothing closes it."""
    depth = 0
    piece = re.compile(rf"{_IGNORED}|[{re.escape(brackets)}]", re.DOTALL)
    for match in piece.finditer(text, start):
        if match[0] == brackets[0]:
            depth += 1
        elif match[0] == brackets[1]:
            depth -= 1
        if depth == 0:
            return match.end()
    return 0
