"""PyTorch's own inputs, all of them.

`python reference/tests/count_opinfo.py` counts them, and prints what differs for a reason.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from operators import opinfo
from operators.exceptions import title_of

pytestmark = pytest.mark.torch

# Importing `op_db` takes seconds, so entries are not parameters, which are worked out while tests are collected.
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_results(part: int) -> None:
    """As functions, as methods, in place and with `out=`, in every dtype that torch supports."""
    unexplained: list[str] = []
    for entry in opinfo.entries()[part::PARTS]:
        for dtype in entry.dtypes():
            for sample in opinfo.samples(entry, dtype):
                unexplained += explain(entry, f" {dtype}", opinfo.differences(entry, sample))
    assert unexplained == []


@pytest.mark.parametrize("part", range(2))
def test_errors(part: int) -> None:
    unexplained: list[str] = []
    for entry in opinfo.entries()[part::2]:
        unexplained += explain(entry, "", opinfo.error_differences(entry))
    assert unexplained == []


@pytest.mark.parametrize("part", range(2))
def test_gradients(part: int) -> None:
    """Of the first and the second order."""
    unexplained: list[str] = []
    for entry in opinfo.entries()[part::2]:
        for dtype in opinfo.gradient_dtypes(entry):
            for sample in opinfo.samples(entry, dtype, requires_grad=True):
                found = opinfo.gradient_differences(entry, sample)
                unexplained += explain(entry, f" {dtype}", found)
    assert unexplained == []


def test_most_of_the_set_has_an_entry() -> None:
    assert len(opinfo.entries()) >= 280


def explain(entry: opinfo.Entry, where: str, found: Iterable[tuple[str, str]]) -> list[str]:
    """The differences that `docs/differences.md` has no reason for."""
    return [
        f"{entry.name}{where} [{how}] {text}"
        for how, text in found
        if title_of(entry.name, how, text) is None
    ]
