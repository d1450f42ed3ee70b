"""Gradients and double gradients of every entry against PyTorch's, on the samples of the reference set.

Every floating tensor of a sample requires grad. The results are weighted with random numbers and summed;
gradients of that sum are compared, and then gradients of a weighted sum of the gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from operators.samples import Input, Sample, Sparse, build, retyped
from operators.test_reference_set import (
    ARBITRARY,
    ENTRIES,
    is_inplace,
    ours,
    out_arguments,
    overload,
    samples_for,
    theirs,
)

import torchgen_lite_reference as tl
from tests.installed import RELEASE

pytestmark = pytest.mark.torch

# What releases after 2.13 differentiate differently, where values tie or lie on a bound.
LATER = {
    "fmax": "2.14 halves the gradient between equal values",
    "fmin": "2.14 halves the gradient between equal values",
    "clamp": "2.14 has no gradient at a bound",
    "clamp_": "2.14 has no gradient at a bound",
}
CHANGED = LATER if RELEASE >= (2, 14) else {}
NAMES = [n for n in ENTRIES if n not in ARBITRARY | CHANGED.keys() and not out_arguments(n)]
# Relative and absolute tolerance of gradients in the smaller types.
LOOSER = {"float32": 1e-3, "float16": 3e-2}
# Sparse tensors have values and no gradients here.
SPARSE = {"_coalesce", "coalesce", "_values", "values", "_indices", "indices", "to_dense"}
SPARSE |= {"_to_dense", "to_sparse", "to_sparse.sparse_dim", "_to_sparse", "_to_sparse.sparse_dim"}
SPARSE |= {"sparse_coo_tensor.indices", "sparse_coo_tensor.indices_size", "sparse_coo_tensor.size"}


class Side:
    """One of the libraries, running one sample."""

    def __init__(self, library: Any, make: Any, dtypes: tuple[str, ...]) -> None:
        self.library = library
        self.dtypes = dtypes
        self.make = make
        self.leaves: list[Any] = []

    def argument(self, value: Any) -> Any:
        made = self.make(value)
        if isinstance(value, Input) and value.base.dtype.name in self.dtypes:
            made.requires_grad_()
            self.leaves.append(made)
        return made

    def tensor(self, array: Any) -> Any:
        return tl.from_numpy(array) if self.library is tl else torch.from_numpy(array)

    def forward(self, name: str, item: Sample) -> list[Any]:
        args, kwargs = build(item.args, self.argument), build(item.kwargs, self.argument)
        if is_inplace(name):
            # A leaf can't be changed, and a base of the same strides can be.
            args[0] = args[0].clone()
        result = overload(self.library, name)(*args, **kwargs)
        results = result if isinstance(result, (list, tuple)) else [result]
        # PyTorch lets an integer tensor that was changed in place require grad.
        tensors = [r for r in results if isinstance(r, (tl.Tensor, torch.Tensor))]
        return [t for t in tensors if t.requires_grad and t.dtype.is_floating_point]

    def weighted(self, tensors: list[Any], seed: int) -> Any:
        total = None
        for index, tensor in enumerate(tensors):
            stream = np.random.default_rng([seed, index])
            weight = self.tensor(np.asarray(stream.uniform(-1, 1, tuple(tensor.shape))))
            part = (tensor * weight.to(tensor.dtype)).sum()
            total = part if total is None else total + part
        return total

    def grad(self, output: Any, create_graph: bool) -> list[Any]:
        found = self.library.autograd.grad(
            output, self.leaves, create_graph=create_graph, allow_unused=True
        )
        return list(found)


def array_of(tensor: Any, like: Any) -> Any:
    if tensor is None:
        return np.zeros(tuple(like.shape))
    # PyTorch's gradients may be zeros without memory, which only a copy has.
    return tensor.detach().clone().numpy()


def assert_same_gradients(
    case: str, mine: list[Any], its: list[Any], leaves: list[Any], tolerance: float
) -> None:
    for index, (one, other, leaf) in enumerate(zip(mine, its, leaves)):
        allowed = LOOSER.get(leaf.dtype.name, tolerance)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                array_of(one, leaf),
                array_of(other, leaf),
                rtol=allowed,
                atol=allowed,
                err_msg=f"{case}, gradient {index}",
            )


def check(name: str, item: Sample, dtypes: tuple[str, ...]) -> None:
    case = f"{name}{item.args} {item.kwargs}"
    mine, its = Side(tl, ours, dtypes), Side(torch, theirs, dtypes)
    try:
        expected = its.forward(name, item)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
        return
    actual = mine.forward(name, item)
    assert [tuple(t.shape) for t in actual] == [tuple(t.shape) for t in expected], case
    if not expected or not its.leaves:
        return
    try:
        wanted = its.grad(its.weighted(expected, 1), create_graph=True)
    except (RuntimeError, NotImplementedError):
        return
    found = mine.grad(mine.weighted(actual, 1), create_graph=True)
    assert_same_gradients(case, found, wanted, mine.leaves, 1e-8)
    if "float64" not in dtypes:
        # Digits are lost faster by differentiating than there are in the smaller types.
        return
    again = [t for t in wanted if t is not None and t.requires_grad]
    mine_again = [t for t in found if t is not None and t.requires_grad]
    if not again or not mine_again:
        return
    both = [
        i
        for i in range(len(wanted))
        if wanted[i] is not None and found[i] is not None and wanted[i].requires_grad
    ]
    try:
        wanted = its.grad(its.weighted([wanted[i] for i in both], 2), create_graph=False)
    except (RuntimeError, NotImplementedError):
        return
    double = mine.weighted([found[i] for i in both], 2)
    found = mine.grad(double, create_graph=False) if double.requires_grad else [None] * len(wanted)
    assert_same_gradients(f"double {case}", found, wanted, mine.leaves, 1e-7)


def has_sparse(item: Sample) -> bool:
    found: list[bool] = []

    def look(value: Any) -> Any:
        found.append(isinstance(value, Sparse))
        return value

    build([item.args, item.kwargs], look)
    return any(found)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in SPARSE])
def test_gradients_are_torchs(name: str) -> None:
    for item in samples_for(name):
        if not has_sparse(item):
            check(name, retyped(item, "float64"), ("float64",))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in SPARSE])
def test_gradients_in_smaller_types(name: str) -> None:
    for item in samples_for(name):
        if not has_sparse(item):
            check(name, item, ("float32", "float16"))
