"""`table --html`: the grid of operators by keys as one page that needs nothing but itself.

The data is small because operators share patterns: a pattern is the computed table of one set of
registered keys, as two strings with a character for each slot. The page shows only the columns that
tell something, and draws only the rows that are on screen. In a comparison it has the operators of the other
side that are not the same, too. The folder `page` has its parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.analysis.computed_table import (
    FALLBACK_TEXT,
    Registrations,
    is_fallthrough,
    table,
)
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.runtime.table import RULES

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program

ORIGINS = (
    "missing",
    "kernel",
    "default backend kernel",
    "nested kernel",
    "math kernel",
    "ambiguous autogradother",
    "autograd kernel",
    "batched kernel",
    "backend fallback",
)
_CODES = {origin: str(index) for index, origin in enumerate(ORIGINS)}
_PAGE = Path(__file__).with_name("page")


class Details(NamedTuple):
    """What the panel tells of an operator besides its table."""

    schema: str = ""
    doc: str = ""
    place: str = ""


class Before(NamedTuple):
    """The other side of a comparison, and what it is called."""

    label: str
    operators: Iterable[Registrations]


def details_of(program: Program) -> dict[str, Details]:
    """Schema, documentation and line of each operator; one that is derived stands nowhere."""
    found = {}
    for operator in program.resolved.operators:
        function = operator.function
        span = None if operator.is_derived else function.place("func")
        place = f"{span.source.path}:{span.line}" if span is not None else ""
        found[operator.name] = Details(str(operator.schema), function.doc or "", place)
    return found


def details_of_torch(names: Iterable[str]) -> dict[str, Details]:
    """The schemas that a loaded PyTorch has."""
    from torchgen_lite.loader.torch_files import import_torch

    torch = import_torch()
    parts = ((name, *name.partition(".")[::2]) for name in names)
    return {name: Details(str(torch._C._get_schema(base, local))) for name, base, local in parts}


def render_html(
    operators: Iterable[Registrations],
    title: str,
    details: Mapping[str, Details] | None = None,
    before: Before | None = None,
) -> str:
    """One self-contained page of operators of one release: a searchable grid, coloured by origin; a click on a cell shows its why."""
    patterns = _Patterns()
    now = list(operators)
    rows = [[*patterns.row(one), *_trimmed((details or {}).get(one.name))] for one in now]
    data = {
        "title": title,
        "origins": ORIGINS,
        "rules": [rule.text for rule in RULES] + [FALLBACK_TEXT],
        "operators": rows,
        "before": None if before is None else _before(before, now, patterns),
        "keys": key_sets(patterns.keys).slots,
        "fallbacks": patterns.fallbacks,
        "patterns": patterns.tables,
    }
    # "<" is escaped so that no label can end the script element that holds the data.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    parts = {
        "@TITLE@": escape(title, quote=False),
        "@STYLE@": _part("page.css"),
        "@SCRIPT@": _part("page.js"),
    }
    before_data, after_data = _part("page.html").split("@DATA@")
    for name, part in parts.items():
        before_data, after_data = before_data.replace(name, part), after_data.replace(name, part)
    return before_data + text + after_data


def _part(name: str) -> str:
    return (_PAGE / name).read_text("utf-8")


def _trimmed(details: Details | None) -> list[str]:
    """Without the last ones that are empty."""
    texts = list(details or ())
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _before(before: Before, now: Iterable[Registrations], patterns: _Patterns) -> dict[str, object]:
    """What the other side has that is not the same, and the names that it does not have."""
    here = {one.name: one for one in now}
    there = list(before.operators)
    known = {one.name for one in there}
    return {
        "label": before.label,
        "added": [name for name in here if name not in known],
        "operators": [patterns.row(one) for one in there if here.get(one.name) != one],
    }


class _Patterns:
    """The patterns so far, and what they are made of."""

    def __init__(self) -> None:
        self.tables: list[dict[str, object]] = []
        self.fallbacks: dict[str, str] = {}
        self.keys = CURRENT
        self._known: dict[object, int] = {}

    def row(self, operator: Registrations) -> list[object]:
        """An operator: its name, the number of its pattern, and its kernels."""
        self.fallbacks.update(operator.fallbacks)
        self.keys = operator.keys
        pattern = (
            tuple((key, is_fallthrough(label)) for key, label in sorted(operator.kernels.items())),
            tuple(sorted(operator.fallbacks.items())),
        )
        if pattern not in self._known:
            self._known[pattern] = len(self.tables)
            self.tables.append(_pattern(operator))
        return [operator.name, self._known[pattern], dict(operator.kernels)]


def _pattern(operator: Registrations) -> dict[str, object]:
    cells = table(operator)
    return {
        "origin": "".join(_CODES[cell.origin] for cell in cells),
        "step": "".join(str(cell.step) for cell in cells),
        "source": [cell.source if cell.source != cell.key else 0 for cell in cells],
    }
