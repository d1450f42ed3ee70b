"""Every option and every field has a line in `torchgen_lite/targets/reach.txt` that says whom a change of it reaches.

The table is what the verdicts of `breaking` and `review` stand on, and docs/verdicts.md shows it. A test fails for an
option or a field without a line, for a line without an option, and for a code that no pair of `tests/verdicts` shows.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.verdicts.test_scenarios import SCENARIOS
from torchgen_lite.diagnostics import read_code
from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.loader.config.options import options_of
from torchgen_lite.loader.config.project import TABLES, general_options
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.sources import blocks_beside
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.options import CommonOptions

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "torchgen_lite" / "targets" / "reach.txt"
PAGE = ROOT / "docs" / "verdicts.md"
WHOM = {"callers", "implementers", "builds", "tests", "readers", "generator"}
MARK = "<!-- The tables below are written from torchgen_lite/targets/reach.txt. -->\n"


class Reach(NamedTuple):
    """What a change of a setting does: `whom` it reaches, the codes of findings about it, and `how` it reaches them."""

    name: str
    whom: str
    codes: tuple[str, ...]
    how: str


@cache
def reaches() -> dict[str, list[Reach]]:
    """The lines by table: that of a target, `every target`, `configuration` or `fields`."""
    return {
        table.removesuffix(":"): [read_line(line) for line in text.splitlines()]
        for table, text in blocks_beside(str(TABLE)).items()
    }


def read_line(line: str) -> Reach:
    name, whom, codes, how = cut_at(line, "|")
    return Reach(name, whom, tuple(codes.split()), how)


def declared() -> dict[str, list[str]]:
    """The names of all options and fields, by table."""
    common = {option.name for option in options_of(CommonOptions).values()}
    names: dict[str, list[str]] = {"configuration": [], "fields": list(FIELDS)}
    names["every target"] = sorted(common)
    for table in ("", *TABLES):
        prefix = f"{table}." if table else ""
        names["configuration"] += [prefix + one.name for one in general_options(table).values()]
    for name, target in TARGETS.items():
        own = [option.name for option in target._own_options().values()]
        names[name] = own
    return names


@pytest.mark.parametrize("table", sorted(declared()))
def test_every_option_and_field_has_a_line(table: str) -> None:
    assert sorted(one.name for one in reaches()[table]) == sorted(declared()[table])


def every_line() -> list[Reach]:
    return [one for lines in reaches().values() for one in lines]


def test_lines_say_whom_and_how() -> None:
    assert {one.whom for one in every_line()} == WHOM
    assert [one for one in every_line() if not one.how] == []
    silent = [one for one in every_line() if one.whom == "callers" and not one.codes]
    assert silent == []


def shown_codes() -> set[str]:
    """The codes in the findings of the scenarios."""
    lines = [line for scenario in SCENARIOS for line in scenario["lines"]]
    return {line.partition("[")[2].partition("]")[0] for line in lines}


def test_every_code_of_the_table_compares_and_is_shown() -> None:
    codes = {code for one in every_line() for code in one.codes}
    assert [code for code in sorted(codes) if not read_code(code).effect] == []
    assert sorted(codes - shown_codes()) == []


def test_the_page_has_the_table() -> None:
    head, _, _ = PAGE.read_text("utf-8").partition(MARK)
    written = f"{head}{MARK}{tables()}"
    if os.environ.get("UPDATE_EXPECT"):
        PAGE.write_text(written, "utf-8")
    assert PAGE.read_text("utf-8") == written


def tables() -> str:
    text = ""
    for table, lines in reaches().items():
        if not lines:
            continue
        title = f"Target `{table}`" if table in TARGETS else table.capitalize()
        text += f"\n## {title}\n\n| name | reaches | codes | how |\n|---|---|---|---|\n"
        for one in lines:
            text += f"| `{one.name}` | {one.whom} | {' '.join(one.codes)} | {one.how} |\n"
    return text
