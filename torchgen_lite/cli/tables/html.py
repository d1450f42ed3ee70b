"""`table --html`: the grid of operators by keys as one self-contained page.

The data is small because operators share patterns and labels: a pattern is the computed table of
one set of registered keys, with a character or number per slot, and each label is stored once. The
page shows only columns that carry information, and draws only visible rows. Data for the panel
follows the script, so that the first rows need not wait for it. A comparison also includes the
other side's version of operators that differ. The parts of the page are in the folder `page`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from torchgen_lite.analysis.computed_table import (
    CALLED,
    FALLBACK_TEXT,
    Registrations,
    is_fallthrough,
    kernels_by_key,
    table,
)
from torchgen_lite.cli.pages import fill_page
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.config.options import Json
from torchgen_lite.runtime.table import RULES
from torchgen_lite.schema.grouped import by_name, places_of

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
_Value = TypeVar("_Value")
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
    details = {}
    for operator in program.resolved.operators:
        function = operator.function
        span = None if operator.is_derived else function.place("func")
        place = f"{span.source.path}:{span.line}" if span is not None else ""
        details[operator.name] = Details(str(operator.schema), function.doc or "", place)
    return details


def details_of_torch(names: Iterable[str]) -> dict[str, Details]:
    """The schemas of a loaded PyTorch."""
    from torchgen_lite.loader.torch.files import import_torch

    torch = import_torch()
    details = {}
    for name in names:
        base, _, local = name.partition(".")
        details[name] = Details(str(torch._C._get_schema(base, local)))
    return details


def render_html(
    operators: Iterable[Registrations],
    title: str,
    details: Mapping[str, Details] | None = None,
    before: Before | None = None,
) -> str:
    """A self-contained page of one release's operators: a searchable grid, colored by origin.

    A click on a cell explains it.
    """
    now = list(operators)
    here = by_name(now)
    there = by_name(before.operators) if before is not None else {}
    changed = [row for name, row in there.items() if here.get(name) != row]
    rows = [*now, *changed]
    kernels = list(map(kernels_by_key, rows))
    patterns = list(map(_pattern, rows, kernels))
    examples = dict(zip(patterns, rows))
    numbers = _numbers(examples)
    labels = _numbers(chain.from_iterable(of_row.values() for of_row in kernels))
    shown = []
    for row, pattern, its_kernels in zip(rows, patterns, kernels):
        its_labels = [labels[label] for label in its_kernels.values()]
        shown.append([row.name, numbers[pattern], its_labels])
    fallbacks: dict[str, str] = {}
    for row in rows:
        fallbacks.update(row.fallbacks)
    other = before and {
        "label": before.label,
        "added": [name for name in here if name not in there],
        "operators": shown[len(now) :],
    }
    data = {
        "title": title,
        "origins": [CALLED.get(origin, origin) for origin in ORIGINS],
        "rules": [rule.text for rule in RULES] + [FALLBACK_TEXT],
        "operators": shown[: len(now)],
        "before": other,
        "keys": key_sets(rows[-1].keys if rows else CURRENT).slots,
        "fallbacks": fallbacks,
        "patterns": list(map(_table, examples.values())),
        "labels": list(labels),
    }
    told = [(details or {}).get(row.name, ()) for row in now]
    parts = {
        "STYLE": (_PAGE / "page.css").read_text("utf-8"),
        "SCRIPT": (_PAGE / "page.js").read_text("utf-8"),
    }
    return fill_page(_PAGE / "page.html", title, parts, DATA=data, DETAILS=told)


def _numbers(values: Iterable[_Value]) -> dict[_Value, int]:
    """The place of each value among those that differ."""
    return places_of(dict.fromkeys(values))


def _pattern(operator: Registrations, kernels: Mapping[str, str]) -> object:
    """What operators have in common whose tables differ in labels alone."""
    return (
        tuple((key, is_fallthrough(label)) for key, label in kernels.items()),
        tuple(sorted(operator.fallbacks.items())),
        operator.own,
    )


def _table(operator: Registrations) -> Json:
    """The table of a pattern.

    A source is an index into `kernels`, or -1 for the key itself. `own` are the sources that are an author's, over
    those of PyTorch.
    """
    cells = table(operator)
    kernels = list(kernels_by_key(operator))
    return {
        "kernels": kernels,
        "origin": "".join(_CODES[cell.origin] for cell in cells),
        "step": "".join(str(cell.step) for cell in cells),
        "source": [kernels.index(c.source) if c.source in kernels else -1 for c in cells],
        **({"own": sorted(operator.own)} if operator.own is not None else {}),
    }
