"""Several entries of an operator: those for other releases, and what a later file adds to an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.versions import NEWEST, Version, meet

Entries = tuple[NativeFunction, ...]
_AGAIN = "declared again here"


def merge_overlays(functions: Sequence[NativeFunction]) -> tuple[Entries, list[Diagnostic]]:
    """Each operator once for any release, at the place of its first entry; repeats and contradictions reported."""
    merged: dict[str, list[NativeFunction]] = {}
    diagnostics: list[Diagnostic] = []
    for function in functions:
        entries = merged.setdefault(function.name, [])
        places = [place for place, entry in enumerate(entries) if meet(entry.torch, function.torch)]
        for place in places:
            entries[place] = _merge(entries[place], function, diagnostics)
        if not places:
            entries.append(function)
    return tuple(chain.from_iterable(merged.values())), diagnostics


def entries_for(functions: Sequence[NativeFunction], release: Version) -> Entries:
    """The merged entries that apply to a release. If it is not known, all of them do; of several for one operator,
    that for the newest release."""
    applying: dict[str, NativeFunction] = {}
    for function in functions:
        first = applying.get(function.name)
        if function.is_for(release) and (first is None or function.is_for(release or NEWEST)):
            applying[function.name] = function
    return tuple(applying.values())


def by_range(functions: Sequence[NativeFunction]) -> Iterator[tuple[str, Entries]]:
    """All entries, with no operator twice: the first of each operator, then by the range of any other one the
    entries that apply to it."""
    first: dict[str, NativeFunction] = {}
    others = []
    for function in functions:
        if first.setdefault(function.name, function) is not function:
            others.append(function.torch or "")
    yield "", tuple(first.values())
    for text in dict.fromkeys(others):
        applying = {}
        for function in functions:
            is_first = function.name not in applying
            if function.torch == text or (is_first and meet(function.torch, text)):
                applying[function.name] = function
        yield text, tuple(applying.values())


def _merge(
    earlier: NativeFunction, later: NativeFunction, diagnostics: list[Diagnostic]
) -> NativeFunction:
    here = later.func.name_span or later.span
    there = earlier.func.name_span or earlier.span
    other = (there, "first declared here")
    name = later.func.full_name
    if here is None or there is None or here.source is there.source:
        message = f"operator `{name}` is declared twice"
        if earlier.torch or later.torch:
            ranges = [f"`{e.torch}`" if e.torch else "all releases" for e in (earlier, later)]
            message += f", and {' and '.join(ranges)} overlap"
        diagnostics.append(finding(later, "TG301", message, here, _AGAIN, None, other))
        return earlier
    if str(earlier.func).rpartition("::")[2] != str(later.func).rpartition("::")[2]:
        message = f"overlay gives `{name}` another schema"
        diagnostics.append(finding(later, "TG307", message, here, _AGAIN, None, other))
        return earlier
    dispatch = earlier.dispatch + _new_kernels(earlier, later, diagnostics)
    changes: dict[str, Any] = {"dispatch": dispatch}
    if not earlier.extra:
        changes["extra"] = later.extra
    for field, place in later.field_spans:
        declared = FIELDS.get(field)
        if declared is None or declared.shape.read is None or field == "dispatch":
            continue
        known = getattr(earlier, declared.attribute)
        given = getattr(later, declared.attribute)
        if declared.fills and not known:
            changes[declared.attribute] = given
        elif given != known:
            message = f"overlay gives `{field}` of `{name}` another value"
            other = (earlier.place(field) or there, "first declared here")
            diagnostics.append(finding(later, "TG307", message, place, _AGAIN, None, other))
    return earlier._replace(**changes)


def _new_kernels(
    earlier: NativeFunction, later: NativeFunction, diagnostics: list[Diagnostic]
) -> tuple[DispatchEntry, ...]:
    present = {entry.key: entry for entry in earlier.dispatch}
    added = []
    for entry in later.dispatch:
        known = present.get(entry.key)
        if known is None:
            added.append(entry)
        elif (known.kernel, known.rows) != (entry.kernel, entry.rows):
            diagnostics.append(
                finding(
                    later,
                    "TG307",
                    f"overlay gives `{entry.key}` of `{later.func.full_name}` another kernel",
                    entry.kernel_span,
                    "another kernel here",
                    None,
                    (known.kernel_span, "first given here"),
                )
            )
    return tuple(added)
