"""Go to definition: a kernel's function, a delegate's operator, an operator's generated code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite.emit.append import defined_in_cpp
from torchgen_lite.emit.header import marked_sources
from torchgen_lite.loader.python.kernel_modules import line_span
from torchgen_lite.loader.sources import read_source
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.hover import find_operator
from torchgen_lite_tools.lsp.places import Place

_CPP = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".mm")
# The most files searched for a C++ function or for generated code.
_MOST_FILES = 2000


def definitions(analysis: Analysis, place: Place) -> list[Span]:
    """The places that a word of an entry leads to."""
    field = place.keys[0] if place.keys else ""
    if place.is_key or not place.word:
        return []
    if field in ("structured_delegate", "autogen"):
        operator = find_operator(analysis, place.word, place.operator)
        name_span = None if operator is None else operator.schema.name_span
        return [name_span] if name_span is not None else []
    if field in ("func", "op"):
        return list(_generated(analysis, place))
    found = analysis.defined_at(place.word)
    if found is None and field == "dispatch":
        found = next(_in_cpp(analysis, place.word.rpartition("::")[2]), None)
    return [found] if found is not None else []


def _generated(analysis: Analysis, place: Place) -> Iterator[Span]:
    """The first place of each generated file that quotes the schema of the operator."""
    operator = find_operator(analysis, place.operator, place.operator)
    if operator is None:
        return
    text = operator.schema.local_text
    for source in _sources(analysis, _output_folder(analysis), ()):
        at = source.text.find(text)
        if at >= 0 and marked_sources(source.text):
            yield Span(source, at, at + len(text))


def _in_cpp(analysis: Analysis, name: str) -> Iterator[Span]:
    """The definition, or else a declaration, in the project's C++ files."""
    declared = []
    for source in _sources(analysis, analysis.root, _CPP):
        line = defined_in_cpp(source.text, name)
        if line:
            span = line_span(source, line)
            if span.text.rstrip().endswith(";"):
                declared.append(span)
            else:
                yield span
    yield from declared


def _output_folder(analysis: Analysis) -> Path:
    return analysis.root / analysis.program.config.output_dir


def _sources(analysis: Analysis, folder: Path, endings: Sequence[str]) -> Iterator[Source]:
    """Files below a folder by name, without hidden ones; generated ones only on request."""
    output = _output_folder(analysis).resolve()
    left = _MOST_FILES
    for parent, folders, files in os.walk(folder):
        inner = [name for name in folders if not name.startswith((".", "_"))]
        folders[:] = sorted(n for n in inner if not endings or Path(parent, n).resolve() != output)
        for name in sorted(files):
            if (endings and not name.endswith(tuple(endings))) or left <= 0:
                continue
            left -= 1
            source, _ = read_source(Path(parent, name), analysis.root)
            if source is not None:
                yield source
