"""The sizes that keep modules, functions, templates, generated files and pages readable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("torchgen_lite", "reference/torchgen_lite_reference", "tools/torchgen_lite_tools")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "docs/*/*.md") for path in ROOT.glob(pattern)
)
TEMPLATES = sorted((ROOT / "templates").rglob("*.j2"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def too_long(path: Path) -> Iterator[str]:
    """A module, and what of it does not fit a screen."""
    text = path.read_text()
    if len(text.splitlines()) > 600:
        yield f"{named(path)} has more than 600 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            if node.end_lineno - node.lineno >= 70:
                yield f"{named(path)}: {node.name} does not fit a screen"


def test_modules_and_functions_are_short() -> None:
    assert len(MODULES) > 400
    assert [fault for path in MODULES for fault in too_long(path)] == []


def test_templates_are_short_and_list_their_context() -> None:
    """Each opens with a comment that lists what it is given."""
    assert len(TEMPLATES) > 60
    texts = {named(path): path.read_text() for path in TEMPLATES}
    assert [name for name, text in texts.items() if len(text.splitlines()) > 120] == []
    assert [name for name, text in texts.items() if not text.startswith("{#")] == []


def test_generated_files_are_short_enough_to_open_and_review() -> None:
    files = [path for path in (ROOT / "generated").rglob("*") if path.suffix in (".py", ".pyi")]
    lines = {path.name: path.read_bytes().count(b"\n") for path in files}
    assert [name for name, count in lines.items() if count > 5_000] == []
    assert 0 < sum(lines.values()) <= 64_700


def wide_lines(page: Path) -> Iterator[str]:
    """A row of a table, an image and a block have the width that they need."""
    text = re.sub(r"(?ms)^( *)```.*?^\1```$", "", page.read_text())
    for line in text.splitlines():
        if len(line) > 120 and not re.match(r" *\||!\[.*\)$", line):
            yield f"{named(page)}: {line}"


def test_lines_of_prose_fit() -> None:
    assert len(PAGES) > 40
    assert [line for page in PAGES for line in wide_lines(page)] == []
