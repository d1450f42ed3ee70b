"""Reductions: golden results and errors. No PyTorch needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl

X = [[1, 5, 3], [4, 2, 6]]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("sum", (), 21),
        ("sum", (0,), [5, 7, 9]),
        ("sum", ((0, 1), True), [[21]]),
        ("prod", (), 720),
        ("prod", (1,), [15, 48]),
        ("amax", (1,), [5, 6]),
        ("amin", (), 1),
        ("argmax", (), 5),
        ("argmin", (1,), [0, 1]),
        ("max", (), 6),
        ("any", (), True),
        ("all", (1,), [True, True]),
        ("cumsum", (1,), [[1, 6, 9], [4, 6, 12]]),
        ("cumprod", (0,), [[1, 5, 3], [4, 10, 18]]),
    ],
)
def test_of_integers(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert getattr(tl, name)(tl.tensor(X), *arguments).tolist() == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mean", (), 3.5),
        ("mean", (0,), [2.5, 3.5, 4.5]),
        ("var", (), 3.5),
        ("var", (0,), [4.5, 4.5, 4.5]),
        ("var", (False,), 3.5 * 5 / 6),
    ],
)
def test_of_floats(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    result = getattr(tl, name)(tl.tensor(X, dtype=tl.float64), *arguments).tolist()
    assert result == pytest.approx(expected)


def test_value_with_position() -> None:
    values, indices = tl.max(tl.tensor(X), 1)
    assert values.tolist() == [5, 6] and indices.tolist() == [1, 2]
    values, indices = tl.tensor([1.0, math.nan, math.nan]).min(0, keepdim=True)
    assert math.isnan(float(values)) and indices.tolist() == [1]


def test_other_overloads() -> None:
    assert tl.max(tl.tensor([1, 5]), tl.tensor([3, 2])).tolist() == [3, 5]
    assert tl.std(tl.tensor([1.0, 3.0])).item() == pytest.approx(math.sqrt(2))
    assert tl.logsumexp(tl.tensor([1000.0, 1000.0]), 0).item() == pytest.approx(1000 + math.log(2))
    assert tl.norm(tl.tensor([3.0, 4.0])).item() == 5.0
    assert tl.linalg_vector_norm(tl.tensor([3.0, -4.0]), 1).item() == 7.0


def test_dtypes() -> None:
    assert tl.sum(tl.tensor([True, True])).dtype is tl.int64
    assert tl.sum(tl.tensor([1], dtype=tl.int8), dtype=tl.float32).dtype is tl.float32
    assert tl.any(tl.tensor([1], dtype=tl.uint8)).dtype is tl.uint8
    assert tl.argmax(tl.tensor([1.0])).dtype is tl.int64


def test_of_nothing() -> None:
    empty = tl.tensor([])
    assert tl.sum(empty).item() == 0.0 and tl.prod(empty).item() == 1.0
    assert math.isnan(float(tl.mean(empty)))
    assert tl.all(empty).item() is True and tl.any(empty).item() is False


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tl.mean(tl.tensor([1])), RuntimeError, r"mean\(\): could not infer output dtype"),
        (lambda: tl.amax(tl.tensor([])), RuntimeError, "Expected reduction dim to be specified"),
        (lambda: tl.max(tl.tensor([]), 0), IndexError, "reduction dim 0 to have non-zero size"),
        (lambda: tl.argmax(tl.tensor([True])), RuntimeError, "does not support bool input"),
        (lambda: tl.sum(tl.tensor([1]), 1), IndexError, "Dimension out of range"),
        (lambda: tl.sum(tl.tensor([1]), (0, 0)), RuntimeError, "appears multiple times"),
        (lambda: tl.var(tl.tensor([1])), RuntimeError, "only support floating point"),
    ],
)
def test_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_too_few_degrees_of_freedom() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isnan(float(tl.var(tl.tensor([1.0]))))


def test_the_largest_of_long_lines() -> None:
    """Beyond a few thousand elements `topk` looks for the bound first: ties and NaN come out as in a sort."""
    stream = np.random.default_rng(0)
    for data in (
        stream.integers(0, 50, (2, 5000)),
        np.where(stream.random((2, 5000)) < 0.01, np.nan, stream.normal(size=(2, 5000))),
        np.full((2, 5000), np.nan),
    ):
        x = tl.tensor(data)
        for largest in (True, False):
            for y, dim in ((x, 1), (x.T.contiguous(), 0)):
                values, indices = tl.topk(y, 7, dim, largest)
                sorted_values, places = tl.sort(y, dim, largest)
                first = (slice(None, 7), slice(None)) if dim == 0 else (slice(None), slice(None, 7))
                np.testing.assert_array_equal(values.numpy(), sorted_values[first].numpy())
                np.testing.assert_array_equal(indices.numpy(), places[first].numpy())
    assert tl.topk(tl.zeros(5000), 0).values.shape == (0,)
