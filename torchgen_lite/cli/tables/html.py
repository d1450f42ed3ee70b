"""`table --html`: the grid of operators by keys as one page that needs nothing but itself.

The data is small because operators share patterns: a pattern is the computed table of one set of
registered keys, as two strings with a character for each slot. The page shows only the columns that
tell something, and draws only the rows that are on screen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from torchgen_lite.cli.tables.explain import FALLBACK_TEXT, Registrations, is_fallthrough, table
from torchgen_lite.cli.tables.page import PAGE
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.runtime.table import RULES

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


def render_html(operators: Iterable[Registrations], title: str) -> str:
    """One self-contained page of operators of one release: a searchable grid, coloured by origin; a click on a cell shows its why."""
    patterns: dict[object, int] = {}
    tables: list[dict[str, object]] = []
    rows: list[list[object]] = []
    keys = CURRENT
    fallbacks: dict[str, str] = {}
    for operator in operators:
        fallbacks.update(operator.fallbacks)
        keys = operator.keys
        pattern = (
            tuple((key, is_fallthrough(label)) for key, label in sorted(operator.kernels.items())),
            tuple(sorted(operator.fallbacks.items())),
        )
        if pattern not in patterns:
            patterns[pattern] = len(tables)
            tables.append(_pattern(operator))
        rows.append([operator.name, patterns[pattern], dict(operator.kernels)])
    data = {
        "title": title,
        "keys": key_sets(keys).slots,
        "origins": ORIGINS,
        "rules": [rule.text for rule in RULES] + [FALLBACK_TEXT],
        "fallbacks": fallbacks,
        "patterns": tables,
        "operators": rows,
    }
    # "<" is escaped so that no label can end the script element that holds the data.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    heading = title.replace("&", "&amp;").replace("<", "&lt;")
    before, after = PAGE.split("@DATA@")
    return before.replace("@TITLE@", heading) + text + after


def _pattern(operator: Registrations) -> dict[str, object]:
    cells = table(operator)
    return {
        "origin": "".join(_CODES[cell.origin] for cell in cells),
        "step": "".join(str(cell.step) for cell in cells),
        "source": [cell.source if cell.source != cell.key else 0 for cell in cells],
    }
