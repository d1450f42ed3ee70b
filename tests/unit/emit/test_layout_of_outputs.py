"""Layout changes no meaning in anything that this repository generates, nor in PyTorch's operators.

Each text is compared before and after: Python by its tree, C++ by its tokens.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

import torchgen_lite
from tests.conftest import ROOT
from tests.unit.emit.test_printer import tokens_of
from torchgen_lite import Program, load
from torchgen_lite.emit import render
from torchgen_lite.emit.printer import WIDTH, lay_out
from torchgen_lite.loader.config.project import load_config

Texts = Mapping[str, tuple[str, str]]
PROJECTS = [ROOT, ROOT / "examples" / "tinyarr"]
PROJECTS += sorted(path.parent for path in ROOT.glob("examples/*/**/torchgen_lite.toml"))
# What programs write stays as it is.
PROJECTS = [path for path in PROJECTS if "command" not in load_config(path)[0].targets]


@pytest.fixture
def texts_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Texts]:
    """A function that generates, and gives each text before and after it is laid out."""

    def generate(program: Program, *targets: str) -> Texts:
        found: dict[str, tuple[str, str]] = {}

        def spied(path: str, text: str) -> str:
            found[path] = text, lay_out(path, text)
            return found[path][1]

        monkeypatch.setattr(render, "lay_out", spied)
        torchgen_lite.generate(program, targets=targets)
        return found

    return generate


def meaning(path: str, text: str) -> str:
    if path.endswith((".py", ".pyi")):
        return ast.dump(ast.parse(text))
    if path.endswith((".h", ".cpp")):
        # Comments are wrapped, so their words count.
        return tokens_of(re.sub(r"(?m)^ *//+", "", text))
    return text


def too_long(text: str) -> Iterator[str]:
    """Lines that are too long although they have neither a string nor a name that fills them."""
    is_off = False
    for line in text.split("\n"):
        is_off = is_off or line == "// clang-format off"
        words = re.sub(r" as \w+,$", "", line.strip())
        if len(line) > WIDTH and not is_off and '"' not in line and len(words) > 70:
            yield line


def check(texts: Texts) -> int:
    """The number of files that were laid out, each of them rightly."""
    for path, (raw, text) in texts.items():
        assert meaning(path, text) == meaning(path, raw), path
        assert lay_out(path, text) == text, path
    return sum(raw != text for raw, text in texts.values())


def marked(project: Path) -> ParameterSet:
    """A backend's operators are PyTorch's, which are read from the installed one."""
    needs_torch = load_config(project)[0].native != ""
    return pytest.param(project, marks=[pytest.mark.torch] if needs_torch else [], id=project.name)


@pytest.mark.parametrize("project", [ROOT, *map(marked, PROJECTS[1:])])
def test_projects_of_this_repository(project: Path, texts_of: Callable[..., Texts]) -> None:
    texts = texts_of(load(root=project))
    assert check(texts) > 1
    code = {path: text for path, (_, text) in texts.items() if path.endswith((".h", ".cpp", ".py"))}
    docstrings = re.compile(r'"""(?:[^"]|"(?!""))*"""')
    long = {path: [*too_long(docstrings.sub("", text))] for path, text in code.items()}
    assert {path: lines for path, lines in long.items() if lines} == {}


@pytest.mark.torch
@pytest.mark.parametrize("target", ["python", "cpp-torch", "torch-stubs"])
def test_pytorchs_operators(target: str, texts_of: Callable[..., Texts]) -> None:
    assert check(texts_of(load(torch=True), target)) > 0
