"""Layout leaves our generated files unchanged, and restores them after their lines have been joined."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import torchgen_lite
from tests.conftest import ROOT
from tests.cpp.compiling import needs_clang_format, unformatted
from tests.unit.emit.layout.joined import joined_cpp, joined_python
from torchgen_lite.emit.layout import lay_out


def generated(suffixes: tuple[str, ...]) -> Iterator[Path]:
    for folder in (ROOT / "generated", *(ROOT / "examples").glob("*/generated")):
        yield from (path for path in sorted(folder.rglob("*")) if path.suffix in suffixes)


def check(path: str, joined: str, text: str) -> None:
    """Assert that layout restores the text; a failure shows the first line that differs."""
    for found, line in zip(lay_out(path, joined).split("\n"), text.split("\n"), strict=False):
        assert found == line, path
    assert lay_out(path, text) == text


def bare(text: str) -> str:
    """The text without the comment that switches formatters off."""
    return text.replace("# fmt: off\n", "", 1)


def test_python_that_is_checked_in() -> None:
    divided = 0
    for path in generated((".py", ".pyi")):
        text = bare(path.read_text("utf-8"))
        joined = joined_python(text)
        divided += joined != text
        check(path.name, joined, text)
    assert divided > 20


def test_cpp_that_is_checked_in() -> None:
    divided = 0
    for path in generated((".h", ".cpp")):
        text = path.read_text("utf-8")
        joined = joined_cpp(text)
        divided += joined != text
        check(path.name, joined, text)
    assert divided > 10


@pytest.mark.torch
def test_python_for_pytorch() -> None:
    files = torchgen_lite.generate(torchgen_lite.load(torch=True), targets=["python"])
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            check(path, joined_python(bare(text)), bare(text))


@cache
def cpp_for_pytorch() -> dict[str, str]:
    return torchgen_lite.generate(torchgen_lite.load(torch=True), targets=["cpp-torch"])


@pytest.mark.torch
def test_cpp_for_pytorch() -> None:
    for path, text in cpp_for_pytorch().items():
        check(path, joined_cpp(text), text)


@pytest.mark.torch
@needs_clang_format
def test_clang_format_changes_nothing_for_pytorch() -> None:
    texts = cpp_for_pytorch().values()
    assert sum(text.count("\n") for text in texts) > 90_000
    assert unformatted(texts) == ""
