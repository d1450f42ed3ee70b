"""Values by what they have in common."""

from __future__ import annotations

import doctest

from torchgen_lite.schema import grouped


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(grouped).failed == 0


def test_the_values_are_read_once() -> None:
    assert grouped.grouped(iter([3, 1, 4, 1, 5]), lambda value: value % 2) == {
        1: [3, 1, 1, 5],
        0: [4],
    }
