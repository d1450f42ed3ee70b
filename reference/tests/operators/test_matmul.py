"""Matrix products, without PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import torchgen_lite_reference as tl

A = [[1.0, 2.0], [3.0, 4.0]]


def test_products() -> None:
    a, v = tl.tensor(A), tl.tensor([1.0, -1.0])
    assert tl.mm(a, a).tolist() == [[7, 10], [15, 22]]
    assert tl.mv(a, v).tolist() == [-1, -1]
    assert tl.dot(v, v).item() == 2
    assert tl.outer(v, v).tolist() == [[1, -1], [-1, 1]]
    assert tl.inner(a, v).tolist() == [-1, -1]
    assert tl.kron(v, v).tolist() == [1, -1, -1, 1]
    assert tl.trace(a).item() == 5
    assert (a @ v).tolist() == [-1, -1]


def test_matmul_broadcasts_batches() -> None:
    x, y = tl.ones([2, 1, 3, 4]), tl.ones([5, 4, 2])
    for on in ("cpu", "meta"):
        assert tl.matmul(x.to(on), y.to(on)).shape == (2, 5, 3, 2)
    assert tl.matmul(x, tl.ones([4])).shape == (2, 1, 3)
    with pytest.raises(RuntimeError, match="need to be at least 1D"):
        tl.matmul(x, tl.tensor(1.0))


def test_addmm_ignores_its_addend_when_beta_is_zero() -> None:
    a = tl.tensor(A)
    nan = tl.full([2, 2], float("nan"))
    assert tl.addmm(nan, a, a, beta=0).tolist() == [[7, 10], [15, 22]]
    assert tl.addmm(a, a, a, beta=10, alpha=-1).tolist() == [[3, 10], [15, 18]]


def test_in_place_may_overlap() -> None:
    a = tl.tensor(A)
    assert a.addmm_(a, a) is a
    assert a.tolist() == [[8, 12], [18, 26]]


def test_linear() -> None:
    x, weight, bias = tl.tensor([[1.0, 2.0]]), tl.tensor(A), tl.tensor([10.0, 20.0])
    assert tl.linear(x, weight, bias).tolist() == [[15, 31]]
    assert tl.linear(x[0], weight, bias).tolist() == [15, 31]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tl.mm(tl.ones([2, 3]), tl.ones([2, 3])), r"cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: tl.mm(tl.ones([2]), tl.ones([2, 3])), "self must be a matrix"),
        (lambda: tl.bmm(tl.ones([1, 2, 3]), tl.ones([2, 3, 1])), r"\[1, 3\] but got: \[2, 3\]"),
        (lambda: tl.mm(tl.ones([1, 1]), tl.ones([1, 1], dtype=tl.int64)), "same dtype"),
        (lambda: tl.dot(tl.ones([2]), tl.ones([3])), "inconsistent tensor size"),
        (lambda: tl.mm(*[tl.ones([1, 1], dtype=tl.bool)] * 2), "not implemented for 'Bool'"),
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()
