"""The sizes that keep the code readable: `budget.toml` says how much each layer may say, and how densely.

Lines are not counted, so that nothing is gained by joining them: a statement has its line, a rule its function, a part
its name. `UPDATE_EXPECT=1 pytest tests/repo/test_budget.py` lowers the numbers of layers that shrank. A number is raised
by hand, in a commit of its own that says why.
"""

from __future__ import annotations

import ast
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from torchgen_lite.loader.config.project import tomllib

ROOT = Path(__file__).parents[2]
BUDGET = Path(__file__).with_name("budget.toml")
PACKAGE = ROOT / "torchgen_lite"
OUTSIDE = {
    "reference": ROOT / "reference" / "torchgen_lite_reference",
    "tools": ROOT / "tools" / "torchgen_lite_tools",
}
# By how much a number may be above what is measured, before it has to be lowered.
SLACK = 0.05

Budget = Mapping[str, Mapping[str, float]]
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def core_files() -> list[Path]:
    return [path for path in python_files(PACKAGE) if PACKAGE / "runtime" not in path.parents]


def layers() -> dict[str, list[Path]]:
    """The Python of each layer, and of the core."""
    folders = {path.name: path for path in PACKAGE.iterdir() if path.is_dir()} | OUTSIDE
    found = {name: python_files(folder) for name, folder in sorted(folders.items())}
    return {"core": core_files()} | {name: files for name, files in found.items() if files}


def nodes_in(text: str) -> int:
    return sum(1 for _ in ast.walk(ast.parse(text)))


def code_lines_in(text: str) -> int:
    """The lines of code: not blank, not a comment, not of a docstring."""
    documented = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            assert docstring.end_lineno is not None
            documented.update(range(docstring.lineno, docstring.end_lineno + 1))
    rows = enumerate(text.splitlines(), 1)
    code = [number for number, row in rows if row.strip() and not row.strip().startswith("#")]
    return len(set(code) - documented)


def density(nodes: int, lines: int) -> float:
    """Nodes for each line, rounded up to a tenth."""
    return math.ceil(10 * nodes / lines) / 10


def tokens_in(path: Path) -> int:
    """Words and signs of a template or a header, its comments aside."""
    text = re.sub(r"\{#.*?#\}|/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
    return len(re.findall(r"\w+|[^\w\s]", text))


def measured() -> Budget:
    """The numbers of today, in the shape of `budget.toml`."""
    nodes: dict[str, float] = {}
    densities: dict[str, float] = {}
    for name, files in layers().items():
        texts = [path.read_text() for path in files]
        count = sum(map(nodes_in, texts))
        nodes[name] = count
        densities[name] = density(count, sum(map(code_lines_in, texts)))
    headers: Iterable[Path] = PACKAGE.rglob("*.h")
    templates: Iterable[Path] = (ROOT / "templates").rglob("*.j2")
    tokens = {
        "headers": sum(map(tokens_in, headers)),
        "templates": sum(map(tokens_in, templates)),
    }
    return {"nodes": nodes, "density": densities, "tokens": tokens}


def lowered(budget: Budget) -> str:
    """The text of `budget.toml`, with the numbers of today for what shrank."""
    tables = re.split(r"(?m)^(?=\[)", BUDGET.read_text())
    for table, numbers in measured().items():
        index = next(i for i, text in enumerate(tables) if text.startswith(f"[{table}]"))
        for name, number in numbers.items():
            if number < budget[table].get(name, 0):
                tables[index] = re.sub(
                    rf"^{name} = [\d.]+$", f"{name} = {number}", tables[index], flags=re.M
                )
    return "".join(tables)


BUDGETED: Budget = tomllib.loads(BUDGET.read_text())
MEASURED = measured()
CASES = [(table, name) for table, numbers in MEASURED.items() for name in numbers]


@pytest.mark.parametrize(("table", "name"), CASES, ids=lambda text: str(text))
def test_no_layer_is_over_its_budget_nor_far_under_it(table: str, name: str) -> None:
    if os.environ.get("UPDATE_EXPECT"):
        BUDGET.write_text(lowered(BUDGETED))
        return
    number, most = MEASURED[table][name], BUDGETED[table].get(name)
    assert most is not None, f"[{table}] of budget.toml has no {name}, which is at {number}"
    assert number <= most, f"{name} is at {number} {table}, which is over {most}"
    assert number >= most * (1 - SLACK), f"{name} is at {number}: lower its number"


def test_the_budget_names_nothing_that_is_gone() -> None:
    named = [(table, name) for table, numbers in BUDGETED.items() for name in numbers]
    assert sorted(set(named) - set(CASES)) == []


def test_how_code_is_laid_out_changes_its_density_and_not_its_nodes() -> None:
    joined = "found = [one for one in rows if one]; print(found)\n"
    apart = '"""Doc."""\n\n# Why.\nfound = [\n    one\n    for one in rows\n    if one\n]\nprint(found)\n'
    docstring = nodes_in('"""Doc."""\n') - nodes_in("")
    assert nodes_in(apart) == nodes_in(joined) + docstring
    assert (code_lines_in(joined), code_lines_in(apart)) == (1, 6)
