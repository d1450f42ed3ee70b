"""Random pairs of versions against an oracle of calls. `python -m tests.fuzz --pairs` tries more of them."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import pairs
from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize("seed", [0, 1])
def test_no_call_is_lost_in_silence(seed: int) -> None:
    assert pairs.run_pairs(1000, seed) == []


def test_a_comparison_that_says_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "compare_schemas", lambda old, new: ())
    assert len(pairs.run_pairs(100, 0)) > 20


def test_the_oracle() -> None:
    old = FunctionSchema.parse("m::f(int a, int b=0) -> Tensor")
    swapped = FunctionSchema.parse("m::f(int b, int a) -> Tensor")
    more = FunctionSchema.parse("m::f(int a, int b=0, int c=0) -> Tensor")
    assert pairs.lost(random.Random(0), old, swapped) is not None
    assert pairs.lost(random.Random(0), old, more) is None
