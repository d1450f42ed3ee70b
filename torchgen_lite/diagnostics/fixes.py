"""Applies the suggestions of diagnostics, for `lint --fix` and for editors."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Edit


def pick_edits(edits: Iterable[Edit | None], path: str) -> tuple[Edit, ...]:
    """The edits of one file, in order. If several overlap, the first one is taken."""
    picked: list[Edit] = []
    for edit in sorted(
        {edit for edit in edits if edit is not None},
        key=lambda edit: (edit.span.start, edit.span.end, edit.text),
    ):
        last = picked[-1].span if picked else None
        is_free = last is None or (edit.span.start >= last.end and edit.span.start > last.start)
        if edit.span.source.path == path and is_free:
            picked.append(edit)
    return tuple(picked)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that are in order and do not overlap."""
    parts, position = [], 0
    for span, new in edits:
        parts += [text[position : span.start], new]
        position = span.end
    return "".join([*parts, text[position:]])
