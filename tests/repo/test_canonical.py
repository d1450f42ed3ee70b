"""The YAML that we show is what `fmt` writes: that of examples, of new projects, and of pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.blocks import PAGES, fences
from tests.conftest import ROOT, Result
from torchgen_lite.cli.init import STARTED, TEMPLATES
from torchgen_lite.diagnostics.code import every_code
from torchgen_lite.loader.formats.fmt import format_text

Run = Callable[..., Result]

CONFIGURATIONS = sorted(ROOT.glob("examples/*/torchgen_lite.toml"))


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.parent.name)
def test_examples(run: Run, path: Path) -> None:
    if 'native = "torch"' in path.read_text("utf-8"):
        pytest.importorskip("torchgen")
    result = run("fmt", "--check", str(path))
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("target", STARTED)
def test_new_projects(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--target", target, "mylib").code == 0
    result = run("fmt", "--check")
    assert result.code == 0, result.stderr


@pytest.mark.torch
@pytest.mark.parametrize("template", TEMPLATES)
def test_new_backends(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    """Their entries are names of PyTorch's operators."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "--template", template, "mylib").code == 0
    result = run("fmt", "--check")
    assert result.code == 0, result.stderr


def test_pages() -> None:
    """Of codes, what is good; of others, every block of entries, most of which are parts of a file."""
    shown = {f"{code.code}, good": code.good + "\n" for code in every_code()}
    for page, text in PAGES.items():
        for block in fences(text):
            if block.language == "yaml":
                shown[f"{page}:{block.line}"] = block.text
    entries = {place: text for place, text in shown.items() if re.match(r"(#.*\n)*- func:", text)}
    assert len(entries) > 150
    others = [place for place, text in entries.items() if format_text(text)[0] != text]
    assert others == []
