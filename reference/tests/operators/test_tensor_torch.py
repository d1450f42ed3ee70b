"""Indexing, assignment, conversion, promotion and printing against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from operators.oracle import ALL_DTYPES, Twin, assert_same, attempt, torch, values
from torchgen_lite_reference.dtype import by_name

pytestmark = pytest.mark.torch

BASIC: list[Any] = [
    0,
    -1,
    (1, 2),
    (slice(None), 1),
    (slice(None, None, 2), slice(1, None)),
    slice(5, 1),
    slice(-1, None),
    (slice(-100, 100), slice(0, -1)),
    ...,
    (..., 0),
    (0, ..., 1),
    None,
    (None, 0, None, slice(None), None),
    (..., None),
    (..., ...),
    (0, 0, 0),
    (slice(None), ..., slice(None), slice(None)),
    np.int64(1),
    True,
    False,
]
ADVANCED: list[Any] = [
    [0, 1],
    ([0, 1], [2, 0]),
    (slice(None), [2, 0]),
    ([0, 1], slice(None), [3, 0]),
    (0, [1, 2]),
    (..., [1, 1, 0]),
    (None, [1]),
    np.array([1, 0, 1]),
    np.array([[0, 1], [1, 1]]),
    np.array([True, False]),
    (slice(None), np.array([True, False, True])),
    np.ones((2, 3), bool),
    (np.ones((2, 3), bool), slice(1, 3)),
    (np.ones((2, 3), bool), [0, 1, 2, 3, 0, 1]),
    (np.eye(2, 3, dtype=bool), np.array([3, 0])),
    (None, np.eye(2, 3, dtype=bool), [2, 1]),
    (np.array([True, False]), [2, 1]),
    (np.array(1), np.array([True, True, False])),
    np.array(1),
    ([0], None, [1]),
    [True, False],
    [],
]
# torch writes through this one only if the dtypes agree, though it does through other masks.
READ_ONLY: list[Any] = [(np.array(True), 0)]
BAD: list[Any] = [2, (0, 3), (0, 0, 0, 0), slice(None, None, -1), "a", 1.5, [5]]


def for_library(index: Any, library: Any) -> Any:
    """NumPy arrays in an index become the library's own tensors."""
    if isinstance(index, tuple):
        return tuple(for_library(item, library) for item in index)
    return library.from_numpy(index.copy()) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", [*BASIC, *ADVANCED, *READ_ONLY, *BAD], ids=repr)
def test_reading(index: Any) -> None:
    for base in (values((2, 3, 4), "int64"), values((4, 3, 2), "int64").transpose()):
        twin = Twin(base)
        mine, its = twin.ours(), twin.theirs()
        expected = attempt(its.__getitem__, for_library(index, torch))
        actual = attempt(mine.__getitem__, for_library(index, tl))
        # Where nothing is selected, the memory order of torch's result is arbitrary.
        strides = isinstance(expected, torch.Tensor) and expected.numel() > 0
        assert_same(f"x[{index}]", actual, expected, 1.0, strides)
        if isinstance(expected, torch.Tensor):
            shared = expected.untyped_storage().data_ptr() == its.untyped_storage().data_ptr()
            assert (actual.untyped_storage() is mine.untyped_storage()) == shared
            assert not shared or actual.storage_offset() == expected.storage_offset()


@pytest.mark.parametrize("index", [*BASIC, *ADVANCED], ids=repr)
def test_writing(index: Any) -> None:
    for value in (7, 2.5, Twin(values((), "float32")), Twin(values((1, 1), "int64"))):
        twin = Twin(values((2, 3, 4), "int64"))
        mine, its = twin.ours(), twin.theirs()
        my_value = value.ours() if isinstance(value, Twin) else value
        its_value = value.theirs() if isinstance(value, Twin) else value
        expected = attempt(its.__setitem__, for_library(index, torch), its_value)
        actual = attempt(mine.__setitem__, for_library(index, tl), my_value)
        assert (expected is None) == (
            actual is None
        ), f"{index} = {value}: {expected!r}, {actual!r}"
        assert mine.tolist() == its.tolist(), f"x[{index}] = {value}"


def test_conversion() -> None:
    for a, b in itertools.product(ALL_DTYPES, ALL_DTYPES):
        twin = Twin(abs(values((3, 4), a)).astype(a))
        expected = twin.theirs().to(getattr(torch, b))
        assert_same(f"{a} to {b}", twin.ours().to(by_name(b)), expected, 1.0, True)


def test_promotion() -> None:
    for a, b in itertools.product(ALL_DTYPES, ALL_DTYPES):
        mine = attempt(tl.promote_types, by_name(a), by_name(b))
        its = torch.promote_types(getattr(torch, a), getattr(torch, b))
        if its is not torch.complex32:
            assert mine.name == str(its).removeprefix("torch."), (a, b)
        can = tl.can_cast(by_name(a), by_name(b))
        assert can == torch.can_cast(getattr(torch, a), getattr(torch, b)), (a, b)
        for left, right in itertools.product(((2,), ()), ((2,), ())):
            x, y = Twin(values(left, a)), Twin(values(right, b))
            result = torch.result_type(x.theirs(), y.theirs())
            if result is not torch.complex32:
                mine = tl.result_type(x.ours(), y.ours())
                assert mine.name == str(result).removeprefix("torch."), (a, b, left, right)
        for number in (True, 2, 2.5, 1j):
            for shape in ((2,), ()):
                x = Twin(values(shape, a))
                result = torch.result_type(x.theirs(), number)
                if result is not torch.complex32:
                    mine = tl.result_type(x.ours(), number)
                    assert mine.name == str(result).removeprefix("torch."), (a, number, shape)


PRINTED: list[Any] = [
    3,
    2.5,
    [1.0, -2.5],
    [[1, 20], [3, 4]],
    [1e-5, 1.0],
    [1e9, 1.0],
    [float("inf"), float("nan"), 1.0],
    [float("nan")],
    [True, False],
    [],
    [[], []],
    [0.0],
    [1 + 2j, 3.5 - 1j],
    list(range(30)),
    [x / 7 for x in range(40)],
    list(range(1500)),
    [[float(x * y) for x in range(40)] for y in range(40)],
    [[[1.0, 2.0]], [[3.0, 4.0]]],
    [[[[1]]], [[[2]]]],
    [100000.0, 0.5],
    [-0.0, 1e-8],
]


@pytest.mark.parametrize("data", PRINTED, ids=lambda data: repr(data)[:30])
def test_repr(data: Any) -> None:
    assert repr(tl.tensor(data)) == repr(torch.tensor(data)).replace("torch.", "tl.")
    for dtype in ("float64", "float16", "int32"):
        if np.iscomplexobj(data) or not np.isfinite(np.array(data, dtype=complex)).all():
            continue
        if dtype == "int32" or np.abs(np.array(data, dtype=float)).max(initial=0) < 6e4:
            mine = repr(tl.tensor(data, dtype=by_name(dtype)))
            assert mine == repr(torch.tensor(data, dtype=getattr(torch, dtype))).replace(
                "torch.", "tl."
            )
