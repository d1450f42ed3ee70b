"""The sizes that keep modules, functions, templates, generated files and pages readable."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("torchgen_lite", "reference/torchgen_lite_reference", "tools/torchgen_lite_tools")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "docs/*/*.md") for path in ROOT.glob(pattern)
)
TEMPLATES = sorted((ROOT / "templates").rglob("*.j2"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 600
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 70, f"{node.name} does not fit a screen"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_are_short_and_list_their_context(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 120
    assert text.startswith("{#"), "a template opens with a comment that lists its context"


def test_generated_files_are_short_enough_to_open_and_review() -> None:
    files = [path for path in (ROOT / "generated").rglob("*") if path.suffix in (".py", ".pyi")]
    lines = {path.name: path.read_bytes().count(b"\n") for path in files}
    assert [name for name, count in lines.items() if count > 5_000] == []
    assert 0 < sum(lines.values()) <= 64_700


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_of_prose_fit(path: Path) -> None:
    """A row of a table, an image and a block have the width that they need."""
    text = re.sub(r"(?ms)^( *)```.*?^\1```$", "", path.read_text())
    prose = [line for line in text.splitlines() if not re.match(r" *\||!\[.*\)$", line)]
    assert [line for line in prose if len(line) > 120] == []
