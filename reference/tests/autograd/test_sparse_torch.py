"""Gradients through conversions between strided and sparse tensors: the same programs in both libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl

pytestmark = pytest.mark.torch

Program = Callable[[Any], Any]
# Three elements, two of them at one place.
PLACES = [[0, 2, 0], [1, 0, 1]]


def dense_leaf(lib: Any, *, dtype: str = "float64") -> Any:
    rows = [[0.0, 1.5], [2.0, 0.0], [0.0, -3.0]]
    return lib.tensor(rows, dtype=getattr(lib, dtype)).requires_grad_()


def values_leaf(lib: Any) -> Any:
    return lib.tensor([1.5, -2.0, 4.0], dtype=lib.float64).requires_grad_()


def made(lib: Any, values: Any) -> Any:
    return lib.sparse_coo_tensor(lib.tensor(PLACES), values, [3, 2])


def weight(lib: Any, *shape: int) -> Any:
    return lib.tensor(np.random.default_rng(1).uniform(-1, 1, shape))


def gradients(lib: Any, leaf: Any, result: Any, twice: bool = True) -> Any:
    """The gradient of a weighted sum of squares, and that of a weighted sum of this gradient."""
    total = (result * result * weight(lib, *result.shape)).sum()
    (first,) = lib.autograd.grad(total, leaf, create_graph=True)
    dense = first.to_dense() if first.is_sparse else first
    found = [first.is_sparse, dense.detach().tolist()]
    if twice and dense.requires_grad:
        (second,) = lib.autograd.grad((dense * weight(lib, *dense.shape)).sum(), leaf)
        found += [second.is_sparse, (second.to_dense() if second.is_sparse else second).tolist()]
    return found


def there_and_back(lib: Any) -> Any:
    x = dense_leaf(lib)
    return gradients(lib, x, x.to_sparse().to_dense())


def there_and_back_by_rows(lib: Any) -> Any:
    x = dense_leaf(lib)
    return gradients(lib, x, (x * 2).to_sparse(1).to_dense())


def sparse_leaf(lib: Any) -> Any:
    x = made(lib, values_leaf(lib).detach()).requires_grad_()
    return gradients(lib, x, x.to_dense())


def sparse_leaf_everywhere(lib: Any) -> Any:
    x = made(lib, values_leaf(lib).detach()).coalesce().requires_grad_()
    return gradients(lib, x, x.to_dense(masked_grad=False))


def values_of_a_coalesced_tensor(lib: Any) -> Any:
    x = dense_leaf(lib)
    return gradients(lib, x, x.to_sparse().values())


def coalesced(lib: Any) -> Any:
    x = made(lib, values_leaf(lib).detach()).requires_grad_()
    return gradients(lib, x, x.coalesce().to_dense())


def from_values(lib: Any) -> Any:
    values = values_leaf(lib)
    return gradients(lib, values, made(lib, values).to_dense())


def from_values_that_are_summed(lib: Any) -> Any:
    values = values_leaf(lib)
    return gradients(lib, values, made(lib, values).coalesce().values())


def masked(lib: Any) -> Any:
    x = dense_leaf(lib)
    mask = made(lib, values_leaf(lib).detach()).coalesce()
    # PyTorch's second derivative of it has no formula.
    return gradients(lib, x, x.sparse_mask(mask).to_dense(), False)


def a_sparse_tensor_masked(lib: Any) -> Any:
    x = dense_leaf(lib)
    mask = made(lib, values_leaf(lib).detach()).coalesce()
    return gradients(lib, x, x.to_sparse().sparse_mask(mask).to_dense(), False)


def accumulated(lib: Any) -> Any:
    x = made(lib, values_leaf(lib).detach()).coalesce().requires_grad_()
    for _ in range(2):
        x.to_dense().sum().backward()
    return x.grad.is_sparse, x.grad.to_dense().tolist()


def values_without_gradient(lib: Any) -> Any:
    x = dense_leaf(lib).to_sparse()
    return x.requires_grad, x._values().requires_grad, x.indices().requires_grad


def complex_leaf(lib: Any) -> Any:
    return (dense_leaf(lib) * (1 + 2j)).detach().to_sparse().requires_grad_()


def rounded(tensor: Any) -> Any:
    return np.round((tensor.to_dense() if tensor.is_sparse else tensor).numpy(), 9).tolist()


def complex_elements(lib: Any) -> Any:
    x = complex_leaf(lib)
    (first,) = lib.autograd.grad((x.to_dense() * (1 - 1j)).sum().abs(), x)
    (second,) = lib.autograd.grad(x.values().abs().sum(), x)
    (third,) = lib.autograd.grad(((x * x).to_dense() + x.to_dense()).abs().sum(), x)
    return rounded(first), rounded(second), rounded(third)


def complex_values(lib: Any) -> Any:
    values = lib.tensor([1j, -2.0, 4.0 + 1j], dtype=lib.complex128).requires_grad_()
    return rounded(lib.autograd.grad(made(lib, values).to_dense().abs().sum(), values)[0])


HELPERS = ("dense_leaf", "values_leaf", "made", "weight", "gradients", "complex_leaf", "rounded")
PROGRAMS: list[Program] = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name not in HELPERS
]


@pytest.mark.parametrize("library", [tl, torch])
def test_complex_tensors_are_not_made_sparse_where_it_is_recorded(library: Any) -> None:
    with pytest.raises(RuntimeError, match="_to_sparse does not support automatic differentiat"):
        library.tensor([1j], requires_grad=True).to_sparse()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_are_torchs(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = program(torch)
    assert program(tl) == wanted
