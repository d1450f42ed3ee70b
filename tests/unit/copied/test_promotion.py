"""`promote(...)` of fakes, compared with PyTorch for values of every class in every order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.torch

# `values` has tensors of these dtypes, with and without dimensions, and numbers: promotion has these three classes.
DTYPES = ("bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")


def values() -> list[Any]:
    import torch

    dtypes = [getattr(torch, name) for name in (*DTYPES, *COMPLEX)]
    tensors = [torch.ones(size, dtype=dtype) for dtype in dtypes for size in ((2,), ())]
    return [*tensors, True, 2, 2.5, 1j]


@pytest.fixture
def promote() -> Callable[..., Any]:
    from torchgen_lite.copied.torch_python import _support

    return _support.promote


@pytest.mark.parametrize("default", ["float32", "float64"])
def test_pairs_are_what_result_type_says(promote: Callable[..., Any], default: str) -> None:
    import torch

    torch.set_default_dtype(getattr(torch, default))
    try:
        for pair in itertools.product(values(), repeat=2):
            assert promote(*pair) is torch.result_type(*pair), pair
    finally:
        torch.set_default_dtype(torch.float32)


def test_every_pair_of_dtypes_has_the_result_type_of_torch(promote: Callable[..., Any]) -> None:
    """Or the same error: nothing promotes `uint16` and `int8`."""
    import torch

    def outcome(function: Callable[..., Any], pair: tuple[Any, Any]) -> Any:
        try:
            return function(*pair)
        except RuntimeError:
            return "refused"

    more = ("int16", "int32", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2")
    dtypes = [getattr(torch, name) for name in (*DTYPES, *COMPLEX, *more)]
    tensors = [torch.empty(size, dtype=dtype) for dtype in dtypes for size in ((2,), ())]
    pairs = itertools.product([*tensors, True, 2, 2.5, 1j], repeat=2)
    assert [p for p in pairs if outcome(promote, p) != outcome(torch.result_type, p)] == []


def test_more_values_are_what_a_computation_has(promote: Callable[..., Any]) -> None:
    import torch

    usual = [v for v in values() if getattr(v, "dtype", None) not in (torch.uint8, torch.bfloat16)]
    for triple in itertools.product(usual, repeat=3):
        if any(isinstance(v, torch.Tensor) for v in triple):
            _, expected = torch._prims_common.elementwise_dtypes(
                *triple,
                type_promotion_kind=torch._prims_common.ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT,
            )
            assert promote(*triple) is expected, triple


def test_a_dtype_counts_as_a_tensor_with_dimensions(promote: Callable[..., Any]) -> None:
    import torch

    for value in values():
        for name in (*DTYPES, *COMPLEX):
            dtype = getattr(torch, name)
            expected = torch.result_type(torch.ones(2, dtype=dtype), value)
            assert promote(dtype, value) is promote(value, dtype) is expected, (dtype, value)
