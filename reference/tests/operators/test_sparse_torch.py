"""COO tensors against PyTorch: what a program sees after `to_dense`, and what is coalesced."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from operators.oracle import Twin, assert_same, attempt, torch, values
from torchgen_lite_reference.dtype import by_name

pytestmark = pytest.mark.torch
# Said explicitly, for torch warns otherwise.
torch.sparse.check_sparse_tensor_invariants.enable()

DTYPES = ("int64", "float32", "float64", "complex64")
UNARY = [
    "abs",
    "neg",
    "sgn",
    "asinh",
    "atanh",
    "asin",
    "atan",
    "ceil",
    "erf",
    "expm1",
    "floor",
    "frac",
    "log1p",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "relu",
    "isnan",
    "isinf",
]


def both(dtype: str, coalesced: bool, seed: int = 0, dense: bool = False) -> tuple[Any, Any]:
    """The same sparse tensor in both libraries: shape (4, 3), or (4, 3, 2) with a dense dimension."""
    random = np.random.default_rng(seed)
    indices = np.stack([random.integers(0, 4, 6), random.integers(0, 3, 6)])
    numbers = values((6, 2) if dense else (6,), dtype, seed)
    size = (4, 3, 2) if dense else (4, 3)
    mine = tl.sparse_coo_tensor(tl.from_numpy(indices), tl.from_numpy(numbers.copy()), size)
    its = torch.sparse_coo_tensor(torch.from_numpy(indices), torch.from_numpy(numbers.copy()), size)
    return (mine.coalesce(), its.coalesce()) if coalesced else (mine, its)


def check(case: str, mine: Any, its: Any) -> None:
    """Equal as dense tensors, with the same layout."""
    if isinstance(mine, Exception) or isinstance(its, Exception):
        assert_same(case, mine, its, 8.0, False)
        return
    if isinstance(its, torch.Tensor):
        assert mine.is_sparse == its.is_sparse, case
        if its.is_sparse:
            # torch's product keeps positions that only one factor has, with zeros, and its sum makes a
            # kept dense dimension a sparse one; ours don't.
            if not case.startswith(("mul", "sum")):
                assert mine.coalesce().indices().tolist() == its.coalesce().indices().tolist(), case
            mine, its = mine.to_dense(), its.to_dense()
    assert_same(case, mine, its, 8.0, False)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    for dtype, coalesced, dense in itertools.product(DTYPES, (True, False), (True, False)):
        mine, its = both(dtype, coalesced, dense=dense)
        case = f"{name} {dtype} {coalesced} {dense}"
        check(case, attempt(getattr(tl, name), mine), attempt(getattr(torch, name), its))


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_binary(name: str) -> None:
    for a, b, dense in itertools.product(DTYPES, DTYPES, (True, False)):
        for first, second in itertools.product((True, False), (True, False)):
            mine, its = both(a, first, dense=dense)
            my_other, its_other = both(b, second, seed=3, dense=dense)
            if name == "mul" and a != b and not (first and second):
                # torch refuses some mixtures of dtypes with uncoalesced operands.
                continue
            case = f"{name} {a} {b} {dense} {first} {second}"
            check(
                case,
                attempt(getattr(tl, name), mine, my_other),
                attempt(getattr(torch, name), its, its_other),
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_with_dense_and_numbers(dtype: str) -> None:
    mine, its = both(dtype, True)
    dense = Twin(values((4, 3), dtype, 5))
    check("dense + sparse", tl.add(dense.ours(), mine), torch.add(dense.theirs(), its))
    check("dense - sparse", tl.sub(dense.ours(), mine), torch.sub(dense.theirs(), its))
    check("sparse * dense", tl.mul(mine, dense.ours()), torch.mul(its, dense.theirs()))
    check(
        "sparse + dense",
        attempt(tl.add, mine, dense.ours()),
        attempt(torch.add, its, dense.theirs()),
    )
    for number in (2, 2.5):
        check(f"sparse * {number}", mine * number, its * number)
        check(f"sparse / {number}", mine / number, its / number)
    check("alpha", tl.add(mine, mine, alpha=2), torch.add(its, its, alpha=2))
    vector = Twin(values((3, 2), dtype, 8))
    check("mm", tl.mm(mine, vector.ours()), torch.mm(its, vector.theirs()))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype: str) -> None:
    for coalesced, dense in itertools.product((True, False), (True, False)):
        mine, its = both(dtype, coalesced, dense=dense)
        check("sum", mine.sum(), its.sum())
        for dim, keepdim in itertools.product((0, 1, (0, 1), -1), (False, True)):
            case = f"sum {dim} {keepdim} {dense}"
            check(case, attempt(mine.sum, dim, keepdim), attempt(its.sum, dim, keepdim))


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(dtype: str) -> None:
    twin = Twin(values((3, 4, 2), dtype) * (values((3, 4, 2), "bool", 2)))
    for sparse_dim in (1, 2, 3):
        check("to_sparse", twin.ours().to_sparse(sparse_dim), twin.theirs().to_sparse(sparse_dim))
    check("to_sparse", twin.ours().to_sparse(), twin.theirs().to_sparse())
    mine, its = both(dtype, False)
    check("to", mine.to(by_name("complex128")), its.to(torch.complex128))
    check("clone", mine.clone(), its.clone())
