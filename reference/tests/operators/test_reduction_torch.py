"""Reductions against PyTorch: values, dtypes, shapes, Meta, and out."""

from __future__ import annotations

import itertools
import math

import pytest

from operators.oracle import (
    ALL_DTYPES,
    DTYPES,
    Dtype,
    Twin,
    compare,
    compare_inplace,
    compare_out,
    layouts,
    operands,
    values,
)

pytestmark = pytest.mark.torch

WHOLE = [
    "sum",
    "prod",
    "mean",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "max",
    "min",
    "any",
    "all",
    "var",
    "std",
]
ONE_DIM = [
    "sum",
    "prod",
    "mean",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "max",
    "min",
    "any",
    "all",
    "var",
    "std",
    "logsumexp",
]
MANY_DIMS = ["sum", "mean", "amax", "amin", "var", "std", "logsumexp", "linalg.vector_norm"]
DIMS = (0, -1, (0, 1), (), None, (2, -3), (0, 0), 3)
ORDERS = (0, 1, 2, 3.5, -1, math.inf, -math.inf)


@pytest.mark.parametrize("name", WHOLE)
def test_of_everything(name: str) -> None:
    for dtype in ALL_DTYPES:
        for twin in operands(dtype):
            compare(name, twin, tolerance=16.0)


@pytest.mark.parametrize("name", ONE_DIM)
def test_of_one_dimension(name: str) -> None:
    for dtype in DTYPES:
        for twin in operands(dtype):
            for dim, keepdim in itertools.product((0, 1, -1, 2), (False, True)):
                compare(name, twin, dim, keepdim=keepdim, tolerance=16.0)


@pytest.mark.parametrize("name", MANY_DIMS)
def test_of_several_dimensions(name: str) -> None:
    for dtype in DTYPES:
        for twin, dim, keepdim in itertools.product(layouts((2, 3, 4), dtype), DIMS, (False, True)):
            if (name == "amax" and dim is None) or (name == "amin" and dim is None):
                continue
            if name == "logsumexp" and dim in (None, ()):
                continue
            compare(name, twin, dim=dim, keepdim=keepdim, tolerance=16.0)


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin", "max", "min", "any", "sum"])
def test_nan_and_infinity(name: str) -> None:
    for dtype in ("float16", "float32"):
        twin = Twin(values((4, 5), dtype, special=True))
        compare(name, twin)
        for dim in (0, 1):
            compare(name, twin, dim)


@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_ties_give_the_first(name: str) -> None:
    twin = Twin(values((6, 7), "int32") % 3)
    for dim in (0, 1):
        compare(name, twin, dim)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "cumsum", "cumprod"])
def test_dtype_argument(name: str) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        if a.startswith("complex") and not b.startswith("complex"):
            continue
        if {a, b} == {"float16", "complex64"}:
            continue
        twin = Twin(abs(values((2, 3), a)).astype(a))
        if name.startswith("cum"):
            compare(name, twin, 1, dtype=Dtype(b), tolerance=64.0)
        else:
            compare(name, twin, dtype=Dtype(b), tolerance=64.0)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name: str) -> None:
    for dtype in DTYPES:
        for twin, dim in itertools.product(operands(dtype), (0, 1, -1, 2)):
            compare(name, twin, dim, tolerance=16.0)
        compare_inplace(name + "_", Twin(values((2, 3), dtype)), 1, tolerance=16.0)


@pytest.mark.parametrize("name", ["var", "std"])
def test_correction(name: str) -> None:
    for dtype in ("float16", "float32", "float64", "complex64"):
        for twin in operands(dtype):
            compare(name, twin, correction=0, tolerance=16.0)
            compare(name, twin, False, tolerance=16.0)
            compare(name, twin, 0, True, tolerance=16.0)
            compare(name, twin, dim=(0,), correction=2, keepdim=True, tolerance=16.0)


@pytest.mark.parametrize("order", ORDERS)
def test_norms(order: float) -> None:
    for dtype in DTYPES:
        for twin in operands(dtype):
            compare("linalg.vector_norm", twin, order, tolerance=16.0)
            compare("linalg.vector_norm", twin, order, dim=0, keepdim=True, tolerance=16.0)
        compare("norm", Twin(values((2, 3), dtype)), order, tolerance=16.0)
        compare("norm", Twin(values((2, 3), dtype)), order, dim=(1,), tolerance=16.0)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "any", "argmax", "var", "cumsum"])
def test_out(name: str) -> None:
    for dtype, out in itertools.product(("int64", "float32"), ("exact", "empty", "strided")):
        to = {"any": "bool", "argmax": "int64"}.get(name, dtype)
        compare_out(name, Twin(values((2, 3), dtype)), 1, dtype=to, out=out)


def test_pairs_out() -> None:
    import torch

    import torchgen_lite_reference as tl

    twin = Twin(values((3, 4), "float32"))
    pair = tl.tensor([0.0] * 3), tl.tensor([0] * 3)
    result = tl.max(twin.ours(), 1, out=pair)
    expected = torch.max(twin.theirs(), 1)
    assert result[0] is pair[0] and result[1] is pair[1]
    assert pair[0].tolist() == expected.values.tolist()
    assert pair[1].tolist() == expected.indices.tolist()


def test_whole_numbers_stay_exact() -> None:
    compare("sum", Twin(values((50, 50), "int32") * 40_000_000))
    compare("sum", Twin(values((300,), "uint8") + 200))
