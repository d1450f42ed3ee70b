"""Hostile files give a diagnostic, whatever their size."""

from __future__ import annotations

import tracemalloc

import pytest

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import MAX_ERRORS, load_native_functions


def read(text: str) -> tuple[Diagnostic, ...]:
    from pathlib import Path

    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    program = lint_program(
        build_program(functions, Config(Path(".")), diagnostics=found, sources=[source])
    )
    return program.diagnostics


@pytest.mark.parametrize(
    "text",
    [
        "-\n" * 30_000,
        "- x\n" * 30_000,
        "- func: f(Tesnor x) -> ()\n" * 5_000,
        "- func: f() -> ()\n  dispatch:\n" + "    CPUU: k\n" * 9_000,
        "- func: f() -> ()\n" + "  varaint: k\n" * 30_000,
        "- func: " + "x" * 1_000_000 + "\n",
        "- func: f(" + "Tensor x, " * 100_000 + ") -> ()\n",
        "- {" + "a, " * 40_000 + "}\n",
        "- 'a\n" * 100_000,
        "# torchgen-lite: ignore[" + "TG999," * 100_000 + "]\n- func: f() -> ()\n",
    ],
    ids=lambda text: text[:24],
)
def test_hostile_files(text: str) -> None:
    assert 1 <= len(read(text)) <= 2 * MAX_ERRORS + 2


def test_an_alias_bomb_takes_little_memory() -> None:
    layers = [f"- &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 20)]
    text = "- &a0 [x, x]\n" + "".join(layers)
    tracemalloc.start()
    diagnostics = read(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "TG110" in {d.code for d in diagnostics}
    assert peak < 20 * 1024 * 1024


def test_many_suggestions_among_many_names() -> None:
    names = "".join(f"- func: operator_{i}(Tensor x) -> Tensor\n" for i in range(2000))
    wrong = "".join(
        f"- func: wrong_{i}(Tensor x) -> Tensor\n  structured_delegate: opreator_{i}\n"
        for i in range(60)
    )
    diagnostics = read(names + wrong)
    assert [d.code for d in diagnostics] == ["TG304"] * 60
    assert str(diagnostics[7].help) == "did you mean `operator_7`?"
