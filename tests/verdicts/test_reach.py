"""Every option and every field has a line that says whom a change of it reaches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.verdicts.test_scenarios import SCENARIOS
from torchgen_lite.diagnostics import read_code
from torchgen_lite.loader.config.options import options_of
from torchgen_lite.loader.config.project import TABLES, general_options
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.options import CommonOptions
from torchgen_lite.targets.reach import WHOM, Reach, reaches

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
MARK = "<!-- The tables below are written from torchgen_lite/targets/reach.txt. -->\n"


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
    assert {one.whom for one in every_line()} == set(WHOM)
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
