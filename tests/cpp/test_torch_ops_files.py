"""examples/torch_ops as checked in: fresh, formatted, and with nothing generated in the hand-written part."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.cpp.compiling import needs_clang_format, unformatted
from tests.cpp.torch_ops import EXAMPLE
from torchgen_lite import load

WRITTEN = sorted(
    p for folder in ("csrc", "csrc_stable", "tests") for p in (EXAMPLE / folder).glob("*.cpp")
)


def test_the_generated_files_are_fresh(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLE)
    result = run("check")
    assert result.code == 0, result.stderr


@needs_clang_format
@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(EXAMPLE).as_posix())
def test_the_sources_are_formatted(path: Path) -> None:
    assert unformatted([path.read_text()]) == ""


@pytest.mark.parametrize("folder", ["csrc", "csrc_stable"])
def test_every_kernel_is_written_and_proven(folder: str) -> None:
    """Together the files have the kernels that the YAML names, and each includes the proof of its operators."""
    texts = [path.read_text() for path in sorted((EXAMPLE / folder).glob("*.cpp"))]
    program = load("ops.yaml", root=EXAMPLE)
    assert not program.diagnostics
    kernels = {entry.kernel for f in program.functions for entry in f.dispatch}
    assert len(kernels) == 12
    for function in program.functions:
        kernel = function.dispatch[0].kernel.removeprefix("::")
        operator = function.func.local_name.replace(".", "_")
        (text,) = [text for text in texts if f" {kernel}(" in text]
        assert f"\n#include <torch_ops/verify/{operator}.h>\n" in text.rpartition("}")[2]


@pytest.mark.parametrize("program", ["call_operators.cpp", "call_operators_stable.cpp"])
def test_every_operator_is_called_from_cpp(program: str) -> None:
    text = (EXAMPLE / "tests" / program).read_text()
    operators = [
        f.func.full_name.partition("::")[2] for f in load("ops.yaml", root=EXAMPLE).functions
    ]
    assert len(operators) == 13
    for name in operators:
        assert f"ops::{name.replace('.', '_')}::call(" in text, name


def test_the_commands_of_the_readme_are_those_of_the_page_about_building() -> None:
    """Each option of the CMake build is on both pages, and files that the README names are there."""
    readme = (EXAMPLE / "README.md").read_text()
    page = (ROOT / "docs" / "cpp-build.md").read_text()
    for text in ("cmake -S . -B build -G Ninja", "cmake --build build", "TORCH_OPS_LIBRARY=build/"):
        assert text in readme and text in page
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        assert (EXAMPLE / target).exists(), target
