"""Element-wise operators: golden results, and the errors that a user sees. No PyTorch needed."""

from __future__ import annotations

import math
from typing import Any

import pytest

import torchgen_lite_reference as tl

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("neg", [1, -2], [-1, 2]),
        ("abs", [3 + 4j, -1], [5.0, 1.0]),
        ("sqrt", [4, 9], [2.0, 3.0]),
        ("floor", [1.5, -1.5], [1.0, -2.0]),
        ("round", [0.5, 1.5, 2.5], [0.0, 2.0, 2.0]),
        ("trunc", [1.5, -1.5], [1.0, -1.0]),
        ("frac", [1.5, -1.5], [0.5, -0.5]),
        ("sign", [-3.0, 0.0, 5.0], [-1.0, 0.0, 1.0]),
        ("reciprocal", [2, 4], [0.5, 0.25]),
        ("sigmoid", [0.0], [0.5]),
        ("relu", [-1.0, 2.0], [0.0, 2.0]),
        ("square", [3, -2], [9, 4]),
        ("isnan", [nan, inf, 1.0], [True, False, False]),
        ("isinf", [nan, inf, 1.0], [False, True, False]),
        ("isfinite", [nan, inf, 1.0], [False, False, True]),
        ("logical_not", [0, 2], [True, False]),
        ("bitwise_not", [0, 5], [-1, -6]),
        ("erf", [0.0], [0.0]),
        ("log", [1.0, 0.0], [0.0, -inf]),
    ],
)
def test_unary(name: str, data: Any, expected: Any) -> None:
    assert getattr(tl, name)(tl.tensor(data)).tolist() == expected


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("add", [1, 2], [0.5, 1.5], [1.5, 3.5]),
        ("sub", [1, 2], 3, [-2, -1]),
        ("mul", [True, False], 3, [3, 0]),
        ("div", [1, -3], 2, [0.5, -1.5]),
        ("div", [1.0, -1.0, 0.0], 0, [inf, -inf, nan]),
        ("floor_divide", [7, -7], 2, [3, -4]),
        ("remainder", [7, -7], 3, [1, 2]),
        ("fmod", [7, -7], 3, [1, -1]),
        ("pow", [2, 3], 3, [8, 27]),
        ("maximum", [1.0, nan], [2.0, 2.0], [2.0, nan]),
        ("fmax", [1.0, nan], [2.0, 2.0], [2.0, 2.0]),
        ("eq", [1, 2], [1, 3], [True, False]),
        ("lt", [1, 2], 1.5, [True, False]),
        ("logical_and", [0, 2], [1, 3], [False, True]),
        ("bitwise_xor", [6, 3], 5, [3, 6]),
    ],
)
def test_binary(name: str, a: Any, b: Any, expected: Any) -> None:
    other = tl.tensor(b) if isinstance(b, list) else b
    result = getattr(tl, name)(tl.tensor(a), other).tolist()
    assert str(result) == str(expected)


def test_python_operators() -> None:
    x = tl.tensor([1.0, 2.0])
    assert (x + 1).tolist() == (1 + x).tolist() == [2.0, 3.0]
    assert (3 - x).tolist() == [2.0, 1.0] and (x * 2).tolist() == [2.0, 4.0]
    assert (2 / x).tolist() == [2.0, 1.0] and (-x).tolist() == [-1.0, -2.0]
    assert (x**2).tolist() == [1.0, 4.0] and (2**x).tolist() == [2.0, 4.0]
    assert (x > 1).tolist() == [False, True] and (x == x).tolist() == [True, True]
    assert (~(x > 1)).tolist() == [True, False] and (x % 2).tolist() == [1.0, 0.0]
    y = x
    y += 1
    assert y is x and x.tolist() == [2.0, 3.0]


def test_alpha_is_rounded_once() -> None:
    x = tl.tensor([1.0], dtype=tl.float16)
    assert tl.add(x, x, alpha=2).tolist() == [3.0]
    assert tl.sub(tl.tensor([5]), tl.tensor([2]), alpha=2).tolist() == [1]


def test_strides_of_the_result() -> None:
    x = tl.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).T
    assert (x + x).stride() == (1, 3) and tl.sin(x).stride() == (1, 3)
    assert (x + tl.tensor([1.0, 2.0])).stride() == (1, 3)
    assert (x.to("meta") + 1).stride() == (1, 3)


def test_out_is_resized_with_a_warning() -> None:
    out = tl.tensor([0.0, 0.0])
    with pytest.warns(UserWarning, match=r"resized since it had shape \[2\]"):
        assert tl.add(tl.tensor([1.0, 2.0, 3.0]), tl.tensor(1), out=out) is out
    assert out.tolist() == [2.0, 3.0, 4.0]
    empty = tl.tensor([])
    tl.exp(tl.tensor([0.0]), out=empty)
    assert empty.tolist() == [1.0]


def test_out_may_overlap_an_input() -> None:
    x = tl.tensor([1, 2, 3, 4])
    tl.add(x[:3], x[1:], out=x[1:])
    assert x.tolist() == [1, 3, 5, 7]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tl.tensor([1]).sqrt_(), "result type Float can't be cast to .* Long"),
        (lambda: tl.tensor([1]).add_(1.5), "result type Float can't be cast to .* Long"),
        (lambda: tl.tensor([1.0]).add_(1j), "result type ComplexFloat can't be cast to .* Float"),
        (
            lambda: tl.tensor([1.0, 2.0]).add_(tl.tensor([[1.0], [2.0]])),
            r"output with shape \[2\] doesn't match the broadcast shape \[2, 2\]",
        ),
        (
            lambda: tl.tensor([1.0]).expand(3).add_(1),
            "more than one element of the written-to tensor",
        ),
        (lambda: tl.tensor([True]) - tl.tensor([True]), "two bool tensors is not supported"),
        (lambda: -tl.tensor([True]), "Negation, the `-` operator, on a bool tensor"),
        (lambda: tl.tensor([1]) // 0, "ZeroDivisionError"),
        (lambda: tl.pow(tl.tensor([2]), -1), "Integers to negative integer powers"),
        (lambda: tl.floor(tl.tensor([1j])), "not implemented for 'ComplexFloat'"),
        (lambda: tl.add(tl.tensor([1]), 1, alpha=0.5), "alpha must not be a floating point"),
        (lambda: tl.div(tl.tensor([1]), 1, rounding_mode="up"), "rounding_mode to be one of"),
        (lambda: tl.clamp(tl.tensor([1])), "At least one of 'min' or 'max'"),
        (
            lambda: tl.add(tl.tensor([1.0, 2.0, 3.0]), tl.tensor([1.0, 2.0])),
            r"tensor a \(3\) must match the size of tensor b \(2\)",
        ),
        (
            lambda: tl.sin(tl.tensor([1.0]), out=tl.tensor([1.0]).to("meta")),
            "device",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


def test_clamp_lerp_addcmul() -> None:
    x = tl.tensor([-1.0, 0.5, 3.0])
    assert tl.clamp(x, 0, 1).tolist() == [0.0, 0.5, 1.0]
    assert tl.clamp(x, min=tl.tensor(0.0)).tolist() == [0.0, 0.5, 3.0]
    assert tl.lerp(x, tl.tensor([1.0, 1.0, 1.0]), 0.5).tolist() == [0.0, 0.75, 2.0]
    assert tl.addcmul(x, x, x, value=2).tolist() == [1.0, 1.0, 21.0]
    assert tl.addcdiv(x, x, x, value=2).tolist() == [1.0, 2.5, 5.0]


def test_filling_and_copying() -> None:
    x = tl.tensor([1, 2])
    assert x.fill_(7) is x and x.tolist() == [7, 7]
    assert x.zero_().tolist() == [0, 0]
    assert x.copy_(tl.tensor([1.9])).tolist() == [1, 1]
    y = tl.tensor([[1, 2], [3, 4]]).T
    assert y.clone().stride() == (1, 2) and y.contiguous().stride() == (2, 1)
    assert y.clone(memory_format=tl.contiguous_format).tolist() == [[1, 3], [2, 4]]
    assert x.contiguous() is x


def test_closeness() -> None:
    x = tl.tensor([1.0, nan])
    assert tl.isclose(x, x).tolist() == [True, False]
    assert tl.isclose(x, x, equal_nan=True).tolist() == [True, True]
    assert tl.allclose(tl.tensor([1.0]), tl.tensor([1.0 + 1e-7]))
    assert tl.equal(tl.tensor([1]), tl.tensor([1])) and not tl.equal(x, x)
