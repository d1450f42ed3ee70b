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
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

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


class Size(NamedTuple):
    """How much some code says, and on how many lines: not blank, not a comment, not of a docstring."""

    nodes: int
    lines: int


def size_of(text: str) -> Size:
    nodes = [*ast.walk(ast.parse(text))]
    documented = set[int]()
    for node in nodes:
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            assert docstring.end_lineno is not None
            documented.update(range(docstring.lineno, docstring.end_lineno + 1))
    rows = enumerate(text.splitlines(), 1)
    code = [number for number, row in rows if row.strip() and not row.strip().startswith("#")]
    return Size(len(nodes), len(set(code) - documented))


@cache
def size_of_file(path: Path) -> Size:
    """A file is in its layer, and in the core."""
    return size_of(path.read_text())


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
        sizes = [size_of_file(path) for path in files]
        nodes[name] = sum(size.nodes for size in sizes)
        densities[name] = density(
            sum(size.nodes for size in sizes), sum(size.lines for size in sizes)
        )
    headers: Iterable[Path] = PACKAGE.rglob("*.h")
    templates: Iterable[Path] = (ROOT / "templates").rglob("*.j2")
    tokens = {
        "headers": sum(map(tokens_in, headers)),
        "templates": sum(map(tokens_in, templates)),
    }
    return {"nodes": nodes, "density": densities, "tokens": tokens}


def lowered(budget: Budget, numbers_of_today: Budget) -> str:
    """The text of `budget.toml`, with the numbers of today for what shrank."""
    tables = re.split(r"(?m)^(?=\[)", BUDGET.read_text())
    for table, numbers in numbers_of_today.items():
        index = next(i for i, text in enumerate(tables) if text.startswith(f"[{table}]"))
        for name, number in numbers.items():
            if number < budget[table].get(name, 0):
                tables[index] = re.sub(
                    rf"^{name} = [\d.]+$", f"{name} = {number}", tables[index], flags=re.M
                )
    return "".join(tables)


BUDGETED: Budget = tomllib.loads(BUDGET.read_text())


def out_of_budget(table: str, name: str, number: float) -> Iterator[str]:
    """What is wrong with the number of a layer."""
    most = BUDGETED[table].get(name)
    if most is None:
        yield f"[{table}] of budget.toml has no {name}, which is at {number}"
    elif number > most:
        yield f"{name} is at {number} {table}, which is over {most}"
    elif number < most * (1 - SLACK):
        yield f"{name} is at {number} {table}: lower its number, which is {most}"


def test_no_layer_is_over_its_budget_nor_far_under_it() -> None:
    numbers_of_today = measured()
    if os.environ.get("UPDATE_EXPECT"):
        BUDGET.write_text(lowered(BUDGETED, numbers_of_today))
        return
    wrong = [
        fault
        for table, numbers in numbers_of_today.items()
        for name, number in numbers.items()
        for fault in out_of_budget(table, name, number)
    ]
    assert wrong == []
    for table, most in BUDGETED.items():
        assert sorted(most.keys() - numbers_of_today[table].keys()) == [], "these are gone"


def test_how_code_is_laid_out_changes_its_density_and_not_its_nodes() -> None:
    joined = "found = [one for one in rows if one]; print(found)\n"
    apart = '"""Doc."""\n\n# Why.\nfound = [\n    one\n    for one in rows\n    if one\n]\nprint(found)\n'
    docstring = size_of('"""Doc."""\n').nodes - size_of("").nodes
    assert size_of(joined) == (size_of(apart).nodes - docstring, 1)
    assert size_of(apart).lines == 6
