"""Rename a kernel in each line that names it and in the configured Python module."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from torchgen_lite.diagnostics import Edit, Span
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.places import Place


class CannotRename(ValueError):
    """Why a kernel cannot be renamed."""


def renamed_span(analysis: Analysis, place: Place) -> Span:
    """The part of a kernel's name to replace: no module or namespace. Raises CannotRename."""
    is_kernel = place.keys[:1] == ("dispatch",) and not place.is_key
    if not is_kernel or not any(True for _ in _named(analysis, place.word)):
        raise CannotRename("only kernels can be renamed")
    return _last_part(place.span)


def rename(analysis: Analysis, place: Place, new: str) -> list[Edit]:
    """The edits that give a kernel another name. Raises CannotRename."""
    old = renamed_span(analysis, place).text
    if not new.isidentifier() or not new.isascii() or keyword.iskeyword(new):
        raise CannotRename(f"`{new}` is not the name of a kernel")
    definition = analysis.defined_at(place.word)
    if definition is not None and analysis.defined_at(place.word[: -len(old)] + new) is not None:
        raise CannotRename(f"there is a `{new}` already")
    edits = [Edit(_last_part(span), new) for span in _named(analysis, place.word)]
    if definition is not None:
        edits += [Edit(span, new) for span in _in_module(definition, old)]
    return list(dict.fromkeys(edits))


def _named(analysis: Analysis, kernel: str) -> Iterator[Span]:
    """Where entries name a kernel, counting each key of a line once."""
    for function in analysis.program.entries:
        for entry in function.dispatch:
            span = entry.kernel_span
            if entry.kernel == kernel and span is not None and span.text.strip("'\"") == kernel:
                quote = span.text[:1] in ("'", '"')
                yield span._replace(start=span.start + quote, end=span.end - quote)


def _last_part(span: Span) -> Span:
    text = span.text
    return span._replace(start=span.start + max(text.rfind("."), text.rfind(":")) + 1)


def _in_module(definition: Span, name: str) -> Iterator[Span]:
    """The name of the function, and where its module uses it."""
    source = definition.source
    at = source.text.find(name, definition.start)
    yield Span(source, at, at + len(name))
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Name) and node.id == name:
            line = source.line_text(node.lineno).encode("utf-8")
            start = source.line_start(node.lineno) + len(line[: node.col_offset].decode("utf-8"))
            yield Span(source, start, start + len(name))
