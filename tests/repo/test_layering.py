"""A floor imports only lower floors: DESIGN's house, read from the imports themselves."""

from __future__ import annotations

import ast
import sys
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
}
# Pure data, and the rules over it, which any floor may read.
SHARED = {"torchgen_lite.key_tables", "torchgen_lite.version"}
STANDARD_LIBRARY_ONLY = {"diagnostics", "schema", "runtime"}
THIRD_PARTY = {"yaml", "jinja2", "black", "click", "numpy", "tomli", "torchgen_lite_ops"}


def imports(path: Path) -> list[tuple[str, bool]]:
    """(module, whether it is imported inside a function or for type checking only)."""
    tree = ast.parse(path.read_text())
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, lazy: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside = (
                lazy
                or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
                or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test))
            )
            if isinstance(child, ast.Import):
                found.extend((alias.name, lazy) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: imports are absolute"
                found.append((child.module or "", lazy))
                found.extend((f"{child.module}.{alias.name}", lazy) for alias in child.names)
            visit(child, inside)

    visit(tree, False)
    return found


def floor_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "torchgen_lite" and len(parts) > 1 else None


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_go_down(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for module, lazy in imports(path):
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
            assert (
                there == "runtime"
                and FLOORS[here] >= FLOORS["cli"]
                or there
                not in (
                    "runtime",
                    "reference",
                )
            ), f"{here} imports {module}"
        elif here == "runtime":
            assert there == "schema" and lazy, f"the runtime imports {module}"
        elif here == "reference":
            assert there == "runtime", f"the reference package imports {module}"


def test_floors_are_the_folders() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert folders - {"__pycache__"} <= set(FLOORS) | {"runtime", "reference", "torch_support"}
