"""Random operators beside the same expression in PyTorch. `python -m tests.fuzz --twins` tries more of them."""

from __future__ import annotations

import pytest

from tests.cpp.compiling import needs_compiler

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

from tests.fuzz import twins  # noqa: E402


def problems(target: str) -> list[str]:
    return twins.run_twins(5, seed=0, targets=[target])


def test_operators_do_in_python_what_the_expression_does() -> None:
    assert problems("torch-python") == []


@needs_compiler
def test_operators_do_in_cpp_what_the_expression_does() -> None:
    assert problems("cpp-torch") == []


def test_a_wrong_formula_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(twins._FUNCTIONS, "sin", "{}.sin()")
    # The operator of this seed has sines.
    found = twins.run_twins(1, seed=7, targets=["torch-python"])
    assert any("gradients, " in problem and "another result" in problem for problem in found)
