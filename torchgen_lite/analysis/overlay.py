"""Several files: a later file may add to an operator of an earlier one, but not contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_lite.diagnostics import Diagnostic, Label, Span
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.fields import FIELDS


def merge_overlays(
    functions: Sequence[NativeFunction],
) -> tuple[tuple[NativeFunction, ...], list[Diagnostic]]:
    """Each operator once, at the place of its first entry; repeats and contradictions reported."""
    merged: dict[str, NativeFunction] = {}
    diagnostics: list[Diagnostic] = []
    for function in functions:
        key = function.name
        earlier = merged.setdefault(key, function)
        if earlier is not function:
            merged[key] = _merge(earlier, function, diagnostics)
    return tuple(merged.values()), diagnostics


def _func_span(function: NativeFunction) -> Span | None:
    return function.func.name_span or function.span


def _clash(
    code: str,
    message: str,
    here: Span | None,
    there: Span | None,
    function: NativeFunction,
    texts: tuple[str, str] = ("declared again here", "first declared here"),
) -> Diagnostic:
    return Diagnostic(
        code,
        message,
        Label(here, texts[0]) if here else None,
        (Label(there, texts[1]),) if there else (),
        operator=function.func.full_name,
    )


def _merge(
    earlier: NativeFunction, later: NativeFunction, diagnostics: list[Diagnostic]
) -> NativeFunction:
    here, there = _func_span(later), _func_span(earlier)
    name = later.func.full_name
    if here is None or there is None or here.source is there.source:
        message = f"operator `{name}` is declared twice"
        diagnostics.append(_clash("TG301", message, here, there, later))
        return earlier
    if str(earlier.func).rpartition("::")[2] != str(later.func).rpartition("::")[2]:
        message = f"overlay gives `{name}` another schema"
        diagnostics.append(_clash("TG307", message, here, there, later))
        return earlier
    changes: dict[str, Any] = {
        "dispatch": earlier.dispatch + _new_kernels(earlier, later, diagnostics)
    }
    if not earlier.extra:
        changes["extra"] = later.extra
    for field, place in later.field_spans:
        declared = FIELDS.get(field)
        if declared is None or declared.shape.read is None or field == "dispatch":
            continue
        known, given = getattr(earlier, declared.attribute), getattr(later, declared.attribute)
        if declared.fills and not known:
            changes[declared.attribute] = given
        elif given != known:
            message = f"overlay gives `{field}` of `{name}` another value"
            first = earlier.place(field) or there
            diagnostics.append(_clash("TG307", message, place, first, later))
    return earlier._replace(**changes)


def _new_kernels(
    earlier: NativeFunction, later: NativeFunction, diagnostics: list[Diagnostic]
) -> tuple[DispatchEntry, ...]:
    present = {entry.key: entry for entry in earlier.dispatch}
    added: list[DispatchEntry] = []
    for entry in later.dispatch:
        known = present.get(entry.key)
        if known is None:
            added.append(entry)
        elif known.kernel != entry.kernel:
            message = f"overlay gives `{entry.key}` of `{later.func.full_name}` another kernel"
            texts = ("another kernel here", "first given here")
            clash = _clash("TG307", message, entry.kernel_span, known.kernel_span, later, texts)
            diagnostics.append(clash)
    return tuple(added)
