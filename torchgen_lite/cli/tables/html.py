"""`table --html`: the grid of operators by keys as one self-contained page.

The data is small because operators share patterns and labels: a pattern is the computed table of
one set of registered keys, with a character or number per slot, and each label is stored once. The
page shows only columns that carry information, and draws only visible rows. Data for the panel
follows the script, so that the first rows need not wait for it. A comparison also includes the
other side's version of operators that differ. The parts of the page are in the folder `page`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.analysis.computed_table import (
    FALLBACK_TEXT,
    Registrations,
    is_fallthrough,
    kernels_by_key,
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
    """What the panel shows about an operator besides its table."""

    schema: str = ""
    doc: str = ""
    place: str = ""


class Before(NamedTuple):
    """The other side of a comparison, and its name."""

    label: str
    operators: Iterable[Registrations]


def details_of(program: Program) -> dict[str, Details]:
    """Schema, documentation and line of each operator; a derived one has no line."""
    found = {}
    for operator in program.resolved.operators:
        function = operator.function
        span = None if operator.is_derived else function.place("func")
        place = f"{span.source.path}:{span.line}" if span is not None else ""
        found[operator.name] = Details(str(operator.schema), function.doc or "", place)
    return found


def details_of_torch(names: Iterable[str]) -> dict[str, Details]:
    """The schemas of a loaded PyTorch."""
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
    """A self-contained page of one release's operators: a searchable grid, coloured by origin.

    A click on a cell explains it.
    """
    patterns = _Patterns()
    now = list(operators)
    rows = [patterns.row(one) for one in now]
    data = {
        "title": title,
        "origins": ORIGINS,
        "rules": [rule.text for rule in RULES] + [FALLBACK_TEXT],
        "operators": rows,
        "before": None if before is None else _before(before, now, patterns),
        "keys": key_sets(patterns.keys).slots,
        "fallbacks": patterns.fallbacks,
        "patterns": patterns.tables,
        "labels": list(patterns.labels),
    }
    parts = {
        "TITLE": escape(title, quote=False),
        "STYLE": _part("page.css"),
        "SCRIPT": _part("page.js"),
        "DATA": _json(data),
        "DETAILS": _json([(details or {}).get(one.name, ()) for one in now]),
    }
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return (_PAGE / name).read_text("utf-8")


def _json(data: object) -> str:
    """`<` is escaped so that no text can end the script element that holds the data."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


def _before(before: Before, now: Iterable[Registrations], patterns: _Patterns) -> dict[str, object]:
    """The other side's operators that differ, and the names that it lacks."""
    here = {one.name: one for one in now}
    there = list(before.operators)
    known = {one.name for one in there}
    return {
        "label": before.label,
        "added": [name for name in here if name not in known],
        "operators": [patterns.row(one) for one in there if here.get(one.name) != one],
    }


class _Patterns:
    """The patterns and labels so far."""

    def __init__(self) -> None:
        self.tables: list[dict[str, object]] = []
        self.labels: dict[str, int] = {}
        self.fallbacks: dict[str, str] = {}
        self.keys = CURRENT
        self._known: dict[object, int] = {}

    def row(self, operator: Registrations) -> list[object]:
        """An operator's row: its name, and the numbers of its pattern and its kernels' labels."""
        self.fallbacks.update(operator.fallbacks)
        self.keys = operator.keys
        kernels = kernels_by_key(operator)
        pattern = (
            tuple((key, is_fallthrough(label)) for key, label in kernels.items()),
            tuple(sorted(operator.fallbacks.items())),
        )
        if pattern not in self._known:
            self._known[pattern] = len(self.tables)
            self.tables.append(_pattern(operator))
        labels = [self.labels.setdefault(label, len(self.labels)) for label in kernels.values()]
        return [operator.name, self._known[pattern], labels]


def _pattern(operator: Registrations) -> dict[str, object]:
    """The pattern shared by operators with kernels at the same keys.

    A source is an index into `kernels`, or -1 for the key itself.
    """
    cells, kernels = table(operator), list(kernels_by_key(operator))
    return {
        "kernels": kernels,
        "origin": "".join(_CODES[cell.origin] for cell in cells),
        "step": "".join(str(cell.step) for cell in cells),
        "source": [kernels.index(c.source) if c.source in kernels else -1 for c in cells],
    }
