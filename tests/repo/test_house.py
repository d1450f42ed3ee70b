"""The sizes that keep the house readable, and the promises its documents make."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "torchgen_lite").rglob("*.py"))
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
    assert 0 < sum(lines.values()) <= 62_000


def bash_blocks(text: str) -> list[str]:
    return re.findall(r"```bash\n(.*?)```", text, flags=re.S)


def test_the_two_commands_of_the_readme_are_what_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text()
    ci = (ROOT / ".ci" / "run").read_text()
    first, second = bash_blocks(readme)[:2]
    ci = ci.replace("--quiet ", "").replace('"$work/use/bin/torchgen-lite"', "torchgen-lite")
    for step in ('install -e ".[reference]"', "torchgen-lite generate", "examples/tour.py"):
        assert step in first and step in ci
    for step in ('install -e ".[test]"', "-m pytest -n auto"):
        assert step in second and step in ci


def test_the_runtime_imports_the_standard_library_alone() -> None:
    program = (
        "import sys; before = set(sys.modules); import torchgen_lite.runtime\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - set(sys.stdlib_module_names)))\n"
        "print(*sorted(n for n in sys.modules if n.startswith('torchgen_lite.')"
        " and not n.startswith('torchgen_lite.runtime') and n.count('.') > 1))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["torchgen_lite", ""], "third parties, other floors"


def test_the_walk_is_short_and_names_files_that_exist() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    walk = page.partition("## The walk\n")[2].partition("\n## ")[0]
    for what, most in (("operator", 11), ("error", 5), ("new field", 8), ("new target", 3)):
        section = walk.partition(f"**One {what}**")[2].partition("\n**One")[0]
        paths = re.findall(r"`([\w/]+/[\w./]+\.(?:py|pyi\.j2|cpp\.j2))`", section)
        assert 0 < len(set(paths)) <= most, what
        for path in paths:
            root = ROOT if path.startswith("templates/") else ROOT / "torchgen_lite"
            assert (root / path).is_file(), path
