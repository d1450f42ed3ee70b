"""Rename an argument or a function wherever it is named, or refuse before anything changes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from torchgen_lite.diagnostics import Edit, Span, apply_edits
from torchgen_lite.diagnostics.content import place as shown_place
from torchgen_lite_tools.lsp.analysis import Analysis, analyze
from torchgen_lite_tools.lsp.names import Named, Scope, named_at
from torchgen_lite_tools.lsp.places import Place, find_place
from torchgen_lite_tools.lsp.references import scopes
from torchgen_lite_tools.lsp.sources import CPP, PYTHON


class CannotRename(ValueError):
    """Why a name cannot be changed."""


def renamed_span(analysis: Analysis, place: Place) -> Span:
    """The part of a name to replace: no module or namespace. Raises CannotRename."""
    return _named(analysis, place).span


def rename(analysis: Analysis, place: Place, new: str, texts: Mapping[Path, str]) -> list[Edit]:
    """The edits that give an argument or a function another name. Raises CannotRename.

    `texts` are those that are open. What the schema files and modules would be after the edits is analyzed: a rename
    that leaves a new mistake is refused.
    """
    named = _named(analysis, place)
    if not new.isidentifier() or not new.isascii() or keyword.iskeyword(new):
        raise CannotRename(f"`{new}` is not the name of {_ARTICLES[named.kind]}")
    found = [scope for scope in scopes(analysis, named) if scope.names]
    for scope in found:
        _check_free(scope, new)
    edits = []
    for scope in found:
        edits += [Edit(span, new) for span in scope.names]
    edits = list(dict.fromkeys(edits))
    _check_result(analysis, analysis.path_of(place.span.source), edits, texts)
    return edits


_ARTICLES = {"argument": "an argument", "function": "a function"}


def _named(analysis: Analysis, place: Place) -> Named:
    named = named_at(analysis, place)
    if named is None or named.kind == "operator":
        raise CannotRename("only arguments, kernels and other functions of entries can be renamed")
    return named


def _check_free(scope: Scope, new: str) -> None:
    """Refuse a name that stands in a scope already, whatever it means there."""
    source = scope.span.source
    is_schema = not source.path.endswith((*PYTHON, *CPP))
    for found in re.finditer(rf"(?<!\w){re.escape(new)}(?!\w)", scope.span.text):
        start = scope.span.start + found.start()
        if is_schema:
            place = find_place(source, start)
            if place.is_comment or place.keys[:1] == ("doc",):
                continue
        at = shown_place(Span(source, start, start + len(new)))
        raise CannotRename(f"there is a `{new}` already, at {at}")


def _check_result(
    analysis: Analysis, path: Path, edits: Sequence[Edit], texts: Mapping[Path, str]
) -> None:
    after = analyze(path, {**texts, **_edited(analysis, edits)})
    before = [one for one in analysis.diagnostics if one.severity == "error"]
    wrong = [one for one in after.diagnostics if one.severity == "error"] if after else []
    if len(wrong) > len(before):
        said = {one.message for one in before}
        first = next((one for one in wrong if one.message not in said), wrong[0])
        raise CannotRename(f"after it: {first.message}")


def _edited(analysis: Analysis, edits: Sequence[Edit]) -> dict[Path, str]:
    """The texts of the edited files, by resolved path."""
    by_source: dict[str, list[Edit]] = {}
    for edit in sorted(edits, key=lambda one: one.span.start):
        by_source.setdefault(edit.span.source.path, []).append(edit)
    found = {}
    for some in by_source.values():
        source = some[0].span.source
        found[analysis.path_of(source).resolve()] = apply_edits(source.text, some)
    return found
