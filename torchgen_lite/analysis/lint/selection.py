"""The rules about several kernels under one key: rows that nothing reaches, and inputs that no row takes."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.checks.selections import check_selections
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.analysis.selection.cover import Cover, cover
from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.entry.entry import DispatchEntry, KernelRow, NativeFunction

_WHOLE = "a last kernel without `when` takes the rest"


def uncovered_inputs(function: NativeFunction) -> Findings:
    """TG431: rows that are never reached. TG432: inputs without a kernel. TG433: where neither is known."""
    if any(check_selections(function)):
        return
    seen = []
    for entry in function.dispatch:
        # `CPU, CUDA: [...]` is one list of rows.
        if not entry.rows or entry.rows in seen:
            continue
        seen.append(entry.rows)
        conditions = [row.when for row in entry.rows]
        covered = cover(conditions, function.func, function.dtypes)
        yield from _dead(entry.rows, covered)
        yield from _gap(entry, covered)


def _dead(rows: Sequence[KernelRow], covered: Cover) -> Findings:
    for number in covered.dead:
        row = rows[number]
        why = "no input that it takes is left by the rows before it"
        place: tuple[Span | None, str] = (None, "")
        in_the_way = _in_the_way(rows[:number], row)
        if in_the_way is not None:
            takes = "takes every input" if in_the_way.when is None else "has the same condition"
            why = f"`{in_the_way.kernel}` {takes}"
            place = (in_the_way.span, "this one comes first")
        yield Found(
            "TG431",
            f"`{row.kernel}` is never called: {why}",
            row.span,
            "never reached",
            "remove the row, or move it up",
            place,
        )


def _in_the_way(before: Sequence[KernelRow], row: KernelRow) -> KernelRow | None:
    """The row that takes everything, or the same as this one; None if several together leave nothing."""
    for other in before:
        if other.when is None or other.when == row.when:
            return other
    return None


def _gap(entry: DispatchEntry, covered: Cover) -> Findings:
    if covered.gap is not None:
        message = f"no kernel for `{covered.gap}` under `{entry.key}`"
        yield Found("TG432", message, entry.key_span, "no row takes it", _WHOLE)
    elif not covered.is_complete:
        message = f"whether each input has a kernel under `{entry.key}` is not decided"
        yield Found("TG433", message, entry.key_span, "no last row without `when`", _WHOLE)
