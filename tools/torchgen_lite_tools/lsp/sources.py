"""The files of a project in other languages, and the function that an entry names in them."""

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

PYTHON = (".py",)
CPP = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".mm")
# The most files searched for a function or for generated code.
_MOST_FILES = 2000


def function_at(analysis: Analysis, name: str) -> Span | None:
    """Where a function that entries name is defined, in Python or C++; else where C++ declares it."""
    return analysis.defined_at(name) or next(_in_cpp(analysis, name.rpartition("::")[2]), None)


def _in_cpp(analysis: Analysis, name: str) -> Iterator[Span]:
    """The definition, or else a declaration, in the project's C++ files."""
    declared = []
    for source in written_sources(analysis, CPP):
        line = defined_in_cpp(source.text, name)
        if line:
            span = line_span(source, line)
            if span.text.rstrip().endswith(";"):
                declared.append(span)
            else:
                yield span
    yield from declared


def written_sources(analysis: Analysis, endings: Sequence[str]) -> Iterator[Source]:
    """The project's files with these endings, without generated ones."""
    for source in _sources(analysis, analysis.root, endings):
        if not marked_sources(source.text):
            yield source


def output_sources(analysis: Analysis) -> Iterator[Source]:
    """All files in the folder of generated ones."""
    return _sources(analysis, _output_folder(analysis), ())


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
