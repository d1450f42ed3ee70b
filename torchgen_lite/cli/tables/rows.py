"""The rows of kernels below an answer of `why`: which of them an input gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchgen_lite.analysis.computed_table import Cell
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.selection.explain import RowAnswer, explain
from torchgen_lite.analysis.selection.inputs import Value
from torchgen_lite.cli.pages import Section, section_text
from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.entry.entry import KernelRow

_MARKS = {True: "yes", False: " no", None: "  -"}


def rows_at(program: Program, name: str, cell: Cell) -> tuple[KernelRow, ...]:
    """The rows of the kernel that serves a slot; empty if it has one kernel."""
    operator = program.resolved.find(name)
    if operator is None:
        return ()
    entries = [one for one in operator.own_kernels if one.key == cell.source]
    return entries[0].rows if entries else ()


def rows_data(rows: Sequence[KernelRow], values: Mapping[str, Value]) -> list[Json]:
    """The rows as data, with the answer for an input if one is given."""
    if values:
        return [one._asdict() for one in explain(rows, values)]
    return [{"kernel": row.kernel, "condition": row.text or "otherwise"} for row in rows]


def render_rows(rows: Sequence[KernelRow], values: Mapping[str, Value], width: int) -> str:
    """The rows as lines of text: each with its condition, or with the reason why it does not apply."""
    if not values:
        lines = [(f"  {row.kernel}", row.text or "otherwise") for row in rows]
        return section_text(
            Section("  the first of these kernels whose condition holds:", lines), width
        )
    found = list(explain(rows, values))
    lines = [(f"  {_MARKS[one.applies]}  {one.kernel}", _said(one)) for one in found]
    taken = [one.kernel for one in found if one.applies]
    title = "  no kernel takes this input: the call raises"
    if taken:
        title = f"  for this input it calls {taken[0]}:"
    elif any(one.applies is None for one in found):
        title = "  which kernel takes this input is not known:"
    return section_text(Section(title, lines), width)


def _said(answer: RowAnswer) -> str:
    return answer.why or answer.condition
