"""Random input from a grammar: what is accepted gives valid output. `python -m tests.fuzz --grammar` tries more of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler, quick_torch, torch_flags
from tests.fuzz import targets
from tests.fuzz.targets import PACKAGES, run_grammar
from tests.fuzz.vendors import run_vendors

RUNTIME = ("g++", f"-I{ROOT / 'torchgen_lite' / 'cpp' / 'include'}")


@pytest.mark.slow("fifteen hundred inputs")
def test_python_compiles_and_is_imported() -> None:
    assert run_grammar(1500, seed=0).problems == []


def test_files_of_vendors_are_read() -> None:
    """Whole ones, and some with a few edits."""
    tally = run_vendors(400, seed=0)
    assert tally.problems == []
    assert tally.accepted > 40


@pytest.mark.parametrize("target", PACKAGES)
def test_packages_are_typed(target: str) -> None:
    assert run_grammar(40, seed=3, samples=40, typed=[target]).problems == []


def test_a_package_that_is_not_typed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    write = targets._write

    def write_wrong(root: Path, files: Mapping[str, str]) -> None:
        write(root, {path: f"{text}\n_wrong: int = ''\n" for path, text in files.items()})

    monkeypatch.setattr(targets, "_write", write_wrong)
    (problem,) = run_grammar(3, seed=3, samples=3, typed=["python"]).problems
    assert "Incompatible types in assignment" in problem


@needs_compiler
def test_cpp_of_the_runtime_compiles() -> None:
    assert run_grammar(60, seed=1, samples=60, compilers={"cpp-runtime": RUNTIME}).problems == []


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_cpp_for_libtorch_compiles(target: str) -> None:
    compiler = quick_torch() if target == "cpp-torch" else ("g++", *torch_flags())
    assert run_grammar(60, seed=2, samples=60, compilers={target: compiler}).problems == []
