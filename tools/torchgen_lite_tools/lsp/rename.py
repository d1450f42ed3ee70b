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
from torchgen_lite_tools.lsp.python_callers import strings_that_name
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
    with_names = [scope for scope in scopes(analysis, named) if scope.names]
    for scope in with_names:
        _check_free(scope, new)
    if named.kind == "function":
        _check_strings(analysis, named.name)
    edits = list[Edit]()
    for scope in with_names:
        edits += [Edit(span, new) for span in scope.names]
    # Scopes may overlap.
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
    same_word = re.compile(rf"(?<!\w){re.escape(new)}(?!\w)")
    for word in same_word.finditer(scope.span.text):
        start = scope.span.start + word.start()
        if is_schema:
            place = find_place(source, start)
            if place.is_comment or place.keys[:1] == ("doc",):
                continue
        at = shown_place(Span(source, start, start + len(new)))
        raise CannotRename(f"there is a `{new}` already, at {at}")


def _check_strings(analysis: Analysis, name: str) -> None:
    """Refuse a function that a string names, as `getattr` and `__all__` do: what strings mean is the author's."""
    for span in strings_that_name(analysis, name):
        raise CannotRename(f"the string at {shown_place(span)} names it, too: rename it by hand")


def _check_result(
    analysis: Analysis, path: Path, edits: Sequence[Edit], texts: Mapping[Path, str]
) -> None:
    after = analyze(path, {**texts, **_edited(analysis, edits)})
    messages_before = _errors(analysis)
    messages = _errors(after) if after else []
    if len(messages) > len(messages_before):
        new_messages = [message for message in messages if message not in messages_before]
        first = new_messages[0] if new_messages else messages[0]
        raise CannotRename(f"after it: {first}")


def _errors(analysis: Analysis) -> list[str]:
    """The messages of its errors."""
    errors = [fault for fault in analysis.diagnostics if fault.severity == "error"]
    return [error.message for error in errors]


def _edited(analysis: Analysis, edits: Sequence[Edit]) -> dict[Path, str]:
    """The texts of the edited files, by resolved path."""
    by_source: dict[str, list[Edit]] = {}
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        by_source.setdefault(edit.span.source.path, []).append(edit)
    texts = {}
    for its_edits in by_source.values():
        source = its_edits[0].span.source
        path = analysis.path_of(source).resolve()
        texts[path] = apply_edits(source.text, its_edits)
    return texts
