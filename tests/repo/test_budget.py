"""The sizes that keep the code readable: `budget.toml` has a number of lines for each layer and for the core.

`UPDATE_EXPECT=1 pytest tests/repo/test_budget.py` lowers the numbers of layers that shrank. A number is raised by hand,
in a commit of its own that says why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchgen_lite.loader.config import tomllib

ROOT = Path(__file__).parents[2]
BUDGET = Path(__file__).with_name("budget.toml")
REFERENCE = ROOT / "reference" / "torchgen_lite_reference"
SLACK = 0.05
SUFFIXES = {".py", ".j2", ".h"}


def lines_of(folder: Path) -> int:
    """The lines of Python, templates and headers below a folder."""
    return sum(map(lines_in, [path for path in folder.rglob("*") if path.suffix in SUFFIXES]))


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def core_files() -> list[Path]:
    package = ROOT / "torchgen_lite"
    return [
        path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "runtime"
    ]


def measured() -> dict[str, dict[str, int]]:
    """The numbers of today, in the shape of `budget.toml`."""
    package = ROOT / "torchgen_lite"
    folders = [path for path in package.iterdir() if path.is_dir() and lines_of(path)]
    return {
        "core": {
            "lines": sum(map(lines_in, core_files())),
            "files": len(core_files()),
        },
        "layers": {
            **{path.name: lines_of(path) for path in sorted(folders)},
            "reference": lines_of(REFERENCE),
            "templates": lines_of(ROOT / "templates"),
            "tools": lines_of(ROOT / "tools" / "torchgen_lite_tools"),
        },
    }


def lowered(budget: Mapping[str, Mapping[str, int]]) -> str:
    """The text of `budget.toml`, with the numbers of today for what shrank."""
    text = BUDGET.read_text()
    for table, numbers in measured().items():
        for name, number in numbers.items():
            if number < budget[table].get(name, 0):
                text = re.sub(rf"^{name} = \d+$", f"{name} = {number}", text, flags=re.M)
    return text


BUDGETED: Mapping[str, Mapping[str, int]] = tomllib.loads(BUDGET.read_text())
CASES = [(table, name) for table, numbers in measured().items() for name in numbers]


@pytest.mark.parametrize(("table", "name"), CASES, ids=lambda text: str(text))
def test_no_layer_is_over_its_budget_nor_far_under_it(table: str, name: str) -> None:
    if os.environ.get("UPDATE_EXPECT"):
        BUDGET.write_text(lowered(BUDGETED))
        return
    number, most = measured()[table][name], BUDGETED[table].get(name)
    assert most is not None, f"budget.toml has no number for {name}, which has {number}"
    assert number <= most, f"{name} has {number}: delete what the change replaces"
    assert number >= most * (1 - SLACK), f"{name} has {number}: lower its number"


def test_the_budget_names_nothing_that_is_gone() -> None:
    gone = [(table, name) for table, numbers in BUDGETED.items() for name in numbers]
    assert sorted(set(gone) - set(CASES)) == []


def test_the_core_never_passes_its_limit() -> None:
    assert BUDGETED["core"]["lines"] <= 46_000
