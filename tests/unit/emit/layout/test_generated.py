"""What we generate is the fixed point of layout, and what layout makes of it when nothing is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import torchgen_lite
from tests.conftest import ROOT
from tests.unit.emit.layout.joined import joined_python
from torchgen_lite.emit.layout import lay_out


def generated(suffixes: tuple[str, ...]) -> Iterator[Path]:
    for folder in (ROOT / "generated", *(ROOT / "examples").glob("*/generated")):
        yield from (path for path in sorted(folder.rglob("*")) if path.suffix in suffixes)


def bare(text: str) -> str:
    """Without what tells formatters to keep away."""
    return text.replace("# fmt: off\n", "", 1)


def test_python_that_is_checked_in() -> None:
    divided = 0
    for path in generated((".py", ".pyi")):
        text = bare(path.read_text("utf-8"))
        assert lay_out(path.name, text) == text
        joined = joined_python(text)
        divided += joined != text
        assert lay_out(path.name, joined) == text, path
    assert divided > 20


@pytest.mark.torch
def test_python_for_pytorch() -> None:
    files = torchgen_lite.generate(torchgen_lite.load(torch=True), targets=["python"])
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            assert lay_out(path, joined_python(bare(text))) == bare(text), path
