"""A run's findings for machines: one document, however many projects and however it ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.loader.config.options import Json

MACHINE_FORMATS = ("json", "github", "sarif")


class Report(NamedTuple):
    """A command's findings in one project; `extra`: more lists for its JSON, such as `files`."""

    kind: str
    diagnostics: Sequence[Diagnostic]
    summary: Mapping[str, int]
    extra: Mapping[str, object]


def render_reports(reports: Sequence[Report], output_format: str, *, ok: bool) -> str:
    """The document; `ok` agrees with the exit code."""
    diagnostics = list(chain.from_iterable(report.diagnostics for report in reports))
    if output_format == "github":
        from torchgen_lite.diagnostics import render_github

        return render_github(diagnostics)
    if output_format == "sarif":
        from torchgen_lite.diagnostics import render_sarif
        from torchgen_lite.version import __version__

        return render_sarif(diagnostics, version=__version__)
    from torchgen_lite.diagnostics import render_json

    summary: Counter[str] = Counter()
    extra: Json = {}
    for report in reports:
        summary.update(report.summary)
        for name, value in report.extra.items():
            before = extra.get(name)
            both = isinstance(before, list) and isinstance(value, list)
            extra[name] = [*before, *value] if both else value  # type: ignore[misc]
    return render_json(diagnostics, kind=reports[0].kind, ok=ok, summary=summary, extra=extra)


def asked_format(argv: Sequence[str], default: str) -> str:
    """The output format requested by a command line that could not be parsed."""
    words: list[str] = []
    for word in argv:
        words += word.split("=", 1)
    asked = default
    for option, value in pairwise(words):
        if option == "--output-format":
            asked = value
    return asked if asked in MACHINE_FORMATS else default


def seen_from_here(diagnostics: Sequence[Diagnostic], root: Path) -> Sequence[Diagnostic]:
    """The diagnostics with paths relative to this folder, for a project in a folder below.

    Sources are named relative to their project's root, as in generated files; but messages are read
    and clicked on here.
    """
    prefix = os.path.relpath(root).replace(os.sep, "/")
    if prefix == "." or prefix.startswith(("..", "/")):
        return diagnostics

    def seen(source: Source) -> str:
        path = source.path
        is_file = (root / path).is_file() and not Path(path).is_absolute()
        return f"{prefix}/{path}" if is_file else path

    return with_paths(diagnostics, seen)


def line_of(diagnostic: Diagnostic) -> str:
    """`native_functions.yaml:3`, for a table; empty for a diagnostic without a place."""
    if diagnostic.label is not None:
        return f"{diagnostic.path}:{diagnostic.start()[0]}"
    return ""


def with_paths(
    diagnostics: Sequence[Diagnostic], rename: Callable[[Source], str]
) -> list[Diagnostic]:
    moved: dict[int, Source] = {}

    def move_span(span: Span) -> Span:
        source = span.source
        if id(source) not in moved:
            moved[id(source)] = Source(rename(source), source.text)
        return span._replace(source=moved[id(source)])

    def move(label: Label) -> Label:
        return Label(move_span(label.span), label.text)

    return [
        replace(
            diagnostic,
            label=diagnostic.label and move(diagnostic.label),
            secondary=tuple(map(move, diagnostic.secondary)),
            context=diagnostic.context and move_span(diagnostic.context),
        )
        for diagnostic in diagnostics
    ]
