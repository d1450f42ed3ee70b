"""The rows of kernels below an answer of `why`: which of them an input gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.checks.compiled import language_of
from torchgen_lite.analysis.computed_table import Cell
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.selection.explain import RowAnswer, explain
from torchgen_lite.analysis.selection.inputs import Value
from torchgen_lite.cli.pages import Section, section_text
from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.entry.entry import KernelRow

_MARKS = {True: "yes", False: " no", None: "  -"}


class Rows(NamedTuple):
    """The rows of a key, what the kernel of each is written in, if it says, and the input that is asked about, if any."""

    rows: Sequence[KernelRow]
    languages: Sequence[str]
    values: Mapping[str, Value]


def rows_at(program: Program, name: str, cell: Cell) -> Rows:
    """The rows of the kernel that serves a slot; none if it has one kernel."""
    operator = program.resolved.find(name)
    if operator is not None:
        for entry in operator.own_kernels:
            if entry.key == cell.source:
                languages = [language_of(operator, entry.key, row) for row in entry.rows]
                return Rows(entry.rows, languages, {})
    return Rows((), (), {})


def rows_data(asked: Rows) -> list[Json]:
    """The rows as data, with the answer for an input if one is given."""
    rows: list[Json]
    if asked.values:
        rows = [verdict._asdict() for verdict in explain(asked.rows, asked.values)]
    else:
        rows = [{"kernel": row.kernel, "condition": row.text or "otherwise"} for row in asked.rows]
    for data, row in zip(rows, asked.rows):
        if row.language:
            data["language"] = row.language
    return rows


def render_rows(asked: Rows, width: int) -> str:
    """The rows as lines of text: each with its condition, or with the reason why it does not apply."""
    names = [
        f"{row.kernel} ({language})" if language else row.kernel
        for row, language in zip(asked.rows, asked.languages)
    ]
    if not asked.values:
        lines = [(f"  {name}", row.text or "otherwise") for name, row in zip(names, asked.rows)]
        return section_text(
            Section("  the first of these kernels whose condition holds:", lines), width
        )
    verdicts = list(explain(asked.rows, asked.values))
    lines = [
        (f"  {_MARKS[verdict.applies]}  {name}", _said(verdict))
        for name, verdict in zip(names, verdicts)
    ]
    taken = [verdict.kernel for verdict in verdicts if verdict.applies]
    title = "  no kernel takes this input: the call raises"
    if taken:
        title = f"  for this input it calls {taken[0]}:"
    elif any(verdict.applies is None for verdict in verdicts):
        title = "  which kernel takes this input is not known:"
    return section_text(Section(title, lines), width)


def _said(answer: RowAnswer) -> str:
    return answer.why or answer.condition
