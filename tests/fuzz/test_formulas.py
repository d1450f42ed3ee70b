"""Random formulas against a plain evaluator. `python -m tests.fuzz --formulas` tries more of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.formulas.projects import codes, entry
from tests.formulas.rows import Row
from tests.fuzz import formulas

pytestmark = pytest.mark.torch


def test_every_target_computes_what_the_evaluator_does() -> None:
    pytest.importorskip("torch")
    assert formulas.run_formulas(60, seed=0) == []


def test_most_formulas_are_accepted() -> None:
    made = [formulas.Formulas(random.Random(str(seed))).formula() for seed in range(30)]
    assert sum(not codes(entry(0, Row(one.text)), "torch-python") for one in made) > 20


def test_a_target_that_computes_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")

    def run(*_: Any) -> dict[str, Any]:
        return {str(at): [[0.0, 0.0]] * 6 for at in range(10)}

    monkeypatch.setattr(formulas, "run", run)
    assert len(formulas.run_formulas(10, seed=0)) > 10
