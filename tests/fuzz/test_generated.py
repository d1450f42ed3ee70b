"""Random input from a grammar: what is accepted gives valid output. `python -m tests.fuzz --grammar` tries more of it."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler, torch_flags
from tests.fuzz.targets import run_grammar
from tests.fuzz.vendors import run_vendors

RUNTIME = (f"-I{ROOT / 'torchgen_lite' / 'cpp' / 'include'}",)


def test_python_compiles_and_is_imported() -> None:
    assert run_grammar(1500, seed=0).problems == []


def test_files_of_vendors_are_read() -> None:
    """Whole ones, and some with a few edits."""
    tally = run_vendors(400, seed=0)
    assert tally.problems == []
    assert tally.accepted > 40


@needs_compiler
def test_cpp_of_the_runtime_compiles() -> None:
    assert run_grammar(60, seed=1, samples=60, flags={"cpp-runtime": RUNTIME}).problems == []


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_cpp_for_libtorch_compiles(target: str) -> None:
    assert run_grammar(60, seed=2, samples=60, flags={target: torch_flags()}).problems == []
