"""What may import what, read from the imports: floors import only lower floors, files make no circles."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "torchgen_lite"

FLOORS = {
    "diagnostics": 0,
    "schema": 1,
    "loader": 2,
    "analysis": 3,
    "dialects": 4,
    "targets": 5,
    "emit": 6,
    "pipeline": 7,
    "cli": 8,
    "build_hooks": 9,
    "write_key_tables": 8,
}
# Pure data, the rules over it, and how classes are made, which any floor may use.
SHARED = {
    f"torchgen_lite.{name}" for name in ("key_sets", "key_tables", "runtime.table", "version")
}
STANDARD_LIBRARY_ONLY = {"diagnostics", "schema", "runtime"}
# These run under any name: as `torchgen_lite_runtime`, and inside packages that carry the runtime.
RELATIVE = STANDARD_LIBRARY_ONLY | {"key_sets", "key_tables"}
THIRD_PARTY = {"yaml", "jinja2", "black", "click", "numpy", "tomli", "torchgen_lite_ops"}
# Tensors and their autograd know each other.
CIRCULAR = {"reference"}

MODULES = sorted(PACKAGE.rglob("*.py"))
PATH_OF = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in MODULES
}


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """For each imported name what it may be: a module, or a name in one."""
    package = path.relative_to(PACKAGE.parent).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = (*package[: len(package) + 1 - node.level], node.module or "")
            module = ".".join(filter(None, parts)) if node.level else node.module or ""
            is_ours = module.split(".")[0] == PACKAGE.name
            is_relative = is_ours and home_of(path) in RELATIVE
            assert bool(node.level) == is_relative, f"{path}: line {node.lineno}"
            yield from ((f"{module}.{alias.name}", module) for alias in node.names)


def floor_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "torchgen_lite" and len(parts) > 1 else None


def home_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_go_down(path: Path) -> None:
    here = home_of(path)
    for names in imports(path):
        module = names[0]
        there = floor_of(module)
        top = module.split(".")[0]
        if here == "torch_support":
            assert top == "torch" or top in sys.stdlib_module_names, f"{path} imports {module}"
        if here in STANDARD_LIBRARY_ONLY:
            assert top not in THIRD_PARTY, f"{here} uses the standard library alone, not {module}"
        if there is None or there == here or any(module.startswith(name) for name in SHARED):
            continue
        if here in FLOORS and there in FLOORS:
            assert FLOORS[there] < FLOORS[here], f"{here} imports {module}"
        elif here in FLOORS:
            above = FLOORS[here] >= FLOORS["cli"]
            assert there != "reference" and (
                there != "runtime" or above
            ), f"{here} imports {module}"
        elif here == "runtime":
            assert (there, path.stem) == ("schema", "read_schema"), f"{path} imports {module}"
        elif here == "reference":
            assert there == "runtime", f"the reference package imports {module}"


def imported_files(path: Path) -> set[Path]:
    """The files that a file of the package imports, at once or later."""
    found = (next((n for n in names if n in PATH_OF), None) for names in imports(path))
    return {PATH_OF[name] for name in found if name is not None}


def reachable(start: Path, graph: dict[Path, set[Path]]) -> set[Path]:
    seen: set[Path] = set()
    waiting = list(graph[start])
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(graph[path])
    return seen


def test_no_file_leads_back_to_itself() -> None:
    graph = {path: imported_files(path) for path in MODULES}
    circular = [p for p in MODULES if home_of(p) not in CIRCULAR and p in reachable(p, graph)]
    assert [p.relative_to(PACKAGE).as_posix() for p in circular] == []


def test_floors_are_the_folders() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert folders - {"__pycache__"} <= set(FLOORS) | {"runtime", "reference", "torch_support"}
