"""The grid of promotion: every dtype with every dtype and kind of number, as tensor, without dimensions, and as a number."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from operators.oracle import ALL_DTYPES, attempt, torch
from torchgen_lite_reference.dtype import by_name

pytestmark = pytest.mark.torch

NUMBERS = (True, 2, 2.5, 1 + 2j)
SHAPES = ((2,), ())

# What takes both libraries' operands, and gives what is compared: a tensor, a dtype or an error.
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "result_type": lambda lib, a, b: lib.result_type(a, b),
    "+": lambda lib, a, b: a + b,
    "-": lambda lib, a, b: a - b,
    "*": lambda lib, a, b: a * b,
    "/": lambda lib, a, b: a / b,
    "//": lambda lib, a, b: a // b,
    "%": lambda lib, a, b: a % b,
    "**": lambda lib, a, b: a**b,
    "&": lambda lib, a, b: a & b,
    "<<": lambda lib, a, b: a << b,
    "==": lambda lib, a, b: a == b,
    "<": lambda lib, a, b: a < b,
    "+=": lambda lib, a, b: a.add_(b),
    "/=": lambda lib, a, b: a.div_(b),
    "**=": lambda lib, a, b: a.pow_(b),
    "&=": lambda lib, a, b: a.__iand__(b),
    "<<=": lambda lib, a, b: operator.ilshift(a, b),
    ">>=": lambda lib, a, b: operator.irshift(a, b),
    "add(alpha=)": lambda lib, a, b: lib.add(a, b, alpha=2.0),
    "maximum": lambda lib, a, b: lib.maximum(a, b),
    "atan2": lambda lib, a, b: lib.atan2(a, b),
    "fmod": lambda lib, a, b: lib.fmod(a, b),
    "hypot": lambda lib, a, b: lib.hypot(a, b),
    "logical_and": lambda lib, a, b: lib.logical_and(a, b),
    "where": lambda lib, a, b: lib.where(lib.tensor([True, False]), a, b),
    "cat": lambda lib, a, b: lib.cat([a, b]),
    "clamp": lambda lib, a, b: lib.clamp(a, b),
    "isclose": lambda lib, a, b: lib.isclose(a, b),
    "copy_": lambda lib, a, b: a.copy_(b),
    "fill_": lambda lib, a, b: a.fill_(b),
    "masked_fill": lambda lib, a, b: a.masked_fill(lib.tensor([True]), b),
    "setitem": lambda lib, a, b: (a.__setitem__(..., b), a)[1],
}
# Methods: what stands left is a tensor.
METHODS = {"+=", "/=", "**=", "&=", "<<=", ">>=", "copy_", "fill_", "masked_fill", "setitem"}


def tensor(library: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Threes and fives, so that no divisor is zero and no power is large."""
    array = np.array([3, 5] if shape else 3).astype(dtype)
    return library.tensor(array) if library is tl else torch.tensor(array)


def operands() -> Iterator[tuple[Any, Any]]:
    """What stands left and right: a dtype with a shape, or a number. Two numbers are Python's business."""
    tensors = [*itertools.product(ALL_DTYPES, SHAPES)]
    yield from itertools.product(tensors, tensors)
    yield from itertools.product(tensors, NUMBERS)
    yield from itertools.product(NUMBERS, tensors)


def is_half_with_complex(a: Any, b: Any) -> bool:
    """torch gives complex32, which NumPy does not have."""
    kinds = {x[0] if isinstance(x, tuple) else type(x).__name__ for x in (a, b)}
    return "float16" in kinds and any(kind.startswith("complex") for kind in kinds)


def run(library: Any, function: Callable[[Any, Any, Any], Any], a: Any, b: Any) -> Any:
    one, other = (tensor(library, *x) if isinstance(x, tuple) else x for x in (a, b))
    return attempt(function, library, one, other)


def told(result: Any) -> Any:
    """The dtype and the values, or that it was refused."""
    if isinstance(result, Exception):
        return "refused"
    if isinstance(result, (tl.dtype, torch.dtype)):
        return str(result).rpartition(".")[2]
    return str(result.dtype).rpartition(".")[2], tuple(result.shape), np.asarray(result.tolist())


def agree(mine: Any, its: Any) -> bool:
    if not isinstance(mine, tuple) or not isinstance(its, tuple):
        return bool(mine == its) if isinstance(mine, str) and isinstance(its, str) else False
    return mine[:2] == its[:2] and np.allclose(mine[2], its[2], rtol=2e-3, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_grid(name: str) -> None:
    different = []
    for a, b in operands():
        if is_half_with_complex(a, b) or (name in METHODS and not isinstance(a, tuple)):
            continue
        mine, its = (run(library, FUNCTIONS[name], a, b) for library in (tl, torch))
        if not agree(told(mine), told(its)):
            different.append(f"{a} {name} {b}: {mine!r} for {its!r}")
    assert different == []


def test_half_with_complex() -> None:
    """The difference that `docs/differences.md` has under "dtypes"."""
    for dtype in ("complex64", "complex128"):
        for shapes in itertools.product(SHAPES, SHAPES):
            a, b = tensor(tl, "float16", shapes[0]), tensor(tl, dtype, shapes[1])
            wanted = by_name("complex64") if shapes == ((2,), ()) else by_name(dtype)
            assert (a + b).dtype is wanted
    assert (tensor(tl, "float16", (2,)) + 1j).dtype is tl.complex64
