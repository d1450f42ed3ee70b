"""Whom a change of each option and each field reaches: the table behind the verdicts of `breaking` and `review`.

`reach.txt` has a line for every one. A test fails for an option or a field without a line, for a line without an option,
and for a code that no pair of `tests/verdicts` shows.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.loader.sources import blocks_beside

WHOM = ("callers", "implementers", "builds", "tests", "readers", "generator")


class Reach(NamedTuple):
    """What a change of a setting does: `whom` it reaches, the codes of findings about it, and `how` it reaches them."""

    name: str
    whom: str
    codes: tuple[str, ...]
    how: str


@cache
def reaches() -> dict[str, tuple[Reach, ...]]:
    """The lines by table: that of a target, `every target`, `configuration` or `fields`."""
    tables = {}
    for table, text in blocks_beside(__file__).items():
        tables[table.removesuffix(":")] = tuple([_read(line) for line in text.splitlines()])
    return tables


def _read(line: str) -> Reach:
    name, whom, codes, how = cut_at(line, "|")
    return Reach(name, whom, tuple(codes.split()), how)
