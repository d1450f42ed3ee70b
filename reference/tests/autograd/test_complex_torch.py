"""Complex numbers: value, gradient and double gradient of every entry against PyTorch's.

The float32 tensors of a sample become complex ones, with different imaginary parts; where a sample has
several, each of them is also made complex alone, for a gradient of a real tensor is real. What is
differentiated is the real part of a sum with complex weights.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from operators.samples import Input, Sample, build
from operators.test_reference_set import is_inplace, ours, overload, samples_for, theirs

import torchgen_lite_reference as tl
from autograd.test_gradients_torch import NAMES, SPARSE, Side, has_sparse

pytestmark = pytest.mark.torch

# Its gradient is conjugated here and not in PyTorch, which refuses `silu` (docs/differences.md).
EVERY = [name for name in NAMES if name not in SPARSE | {"silu_"}]
KINDS = ("float64", "float32", "complex128", "complex64")
# PyTorch's engine refuses a complex gradient for a real input of these; here it has its real part.
# It has no formulas for some in-place variants, and says where a formula's shape doesn't fit.
ALLOWED = ("Expected isFloatingType", "inplace version of", "but expected shape compatible")
# Arguments that can't require gradients there, complex or not; here they get none.
NO_GRADIENT = "is not differentiable with respect to argument"
# PyTorch takes a zero-dimensional tensor of another type in these, as if it were a number.
UNMIXED = {"index_put", "index_put_", "_index_put_impl_", "lerp.Tensor", "lerp_.Tensor"}
REFUSED = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError)


def complexified(item: Sample, dtype: str, which: int | None = None) -> Sample:
    """The sample with its float32 tensors complex, all or the numbered one; the others in its precision."""
    count = 0
    real = "float64" if dtype == "complex128" else "float32"

    def convert(value: Any) -> Any:
        nonlocal count
        if not isinstance(value, Input) or value.base.dtype not in (np.float32, np.complex64):
            return value
        count += 1
        # C and NumPy treat infinite parts differently, which is not tested here.
        base = np.where(np.isfinite(value.base), value.base, 1.25).astype(value.base.dtype)
        if base.dtype == np.complex64:
            return Input(base.astype(dtype), value.view)
        if which is not None and count - 1 != which:
            return Input(base.astype(real), value.view)
        turned = np.flip(base).copy() * 0.7 + 0.3
        return Input((base + 1j * np.asarray(turned)).astype(dtype), value.view)

    return Sample(tuple(build(item.args, convert)), build(item.kwargs, convert))


def variants(name: str, item: Sample, dtype: str) -> Iterator[Sample]:
    """All tensors complex, and then each one alone, if there are several."""
    found: list[int] = []

    def look(value: Any) -> Any:
        if isinstance(value, Input) and value.base.dtype == np.float32:
            found.append(value.base.size)
        return value

    build([item.args, item.kwargs], look)
    yield complexified(item, dtype)
    if len(found) > 1 and all(found) and name not in UNMIXED:
        for which in range(len(found)):
            yield complexified(item, dtype, which)


class ComplexSide(Side):
    """One of the libraries, running one sample with complex tensors."""

    def forward(self, name: str, item: Sample) -> list[Any]:
        args, kwargs = build(item.args, self.argument), build(item.kwargs, self.argument)
        if is_inplace(name):
            args[0] = args[0].clone()
        result = overload(self.library, name)(*args, **kwargs)
        results = result if isinstance(result, (list, tuple)) else [result]
        tensors = [r for r in results if isinstance(r, (tl.Tensor, torch.Tensor))]
        kept = [t for t in tensors if t.requires_grad and str(t.device) == "cpu"]
        return [t for t in kept if str(t.dtype).rpartition(".")[2] in KINDS]

    def weighted(self, tensors: list[Any], seed: int) -> Any:
        total = None
        for index, tensor in enumerate(tensors):
            stream = np.random.default_rng([seed, index])
            shape = tuple(tensor.shape)
            weight = np.asarray(stream.uniform(-1, 1, shape) + 1j * stream.uniform(-1, 1, shape))
            if not tensor.dtype.is_complex:
                weight = weight.real
            made = self.tensor(np.ascontiguousarray(weight)).to(tensor.dtype)
            part = self.library.real((tensor * made).sum()).to(self.library.float64)
            total = part if total is None else total + part
        return total


def array_of(tensor: Any, like: Any) -> Any:
    """A gradient's elements; a missing gradient is zero."""
    if tensor is None:
        return np.zeros(tuple(like.shape))
    cloned = tensor.detach().clone()
    return (cloned.resolve_conj() if isinstance(cloned, torch.Tensor) else cloned).numpy()


def assert_same(case: str, mine: list[Any], its: list[Any], leaves: list[Any]) -> None:
    for index, (one, other, leaf) in enumerate(zip(mine, its, leaves)):
        allowed = 2e-3 if str(leaf.dtype).endswith(("float32", "complex64")) else 1e-7
        found, wanted = array_of(one, leaf), array_of(other, leaf)
        assert one is None or other is None or found.dtype == wanted.dtype, case
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                found, wanted, rtol=allowed, atol=allowed, err_msg=f"{case}, gradient {index}"
            )


def check(name: str, item: Sample) -> None:
    case = f"{name}{item.args} {item.kwargs}"
    mine, its = ComplexSide(tl, ours, KINDS), ComplexSide(torch, theirs, KINDS)
    try:
        expected = its.forward(name, item)
    except REFUSED as error:
        if NO_GRADIENT not in str(error):
            with pytest.raises(REFUSED):
                mine.forward(name, item)
        return
    if not expected:
        return
    actual = mine.forward(name, item)
    assert [tuple(t.shape) for t in actual] == [tuple(t.shape) for t in expected], case
    for one, other in zip(actual, expected):
        assert_same(f"value {case}", [one], [other], [other])
    try:
        wanted = its.grad(its.weighted(expected, 1), create_graph=True)
    except REFUSED as error:
        if not any(text in str(error) for text in ALLOWED):
            with pytest.raises(REFUSED):
                mine.grad(mine.weighted(actual, 1), create_graph=True)
        return
    found = mine.grad(mine.weighted(actual, 1), create_graph=True)
    assert_same(case, found, wanted, its.leaves)
    if not any(leaf.dtype == torch.complex128 for leaf in its.leaves):
        return
    check_double(case, mine, its, found, wanted)


def check_double(case: str, mine: Side, its: Side, found: list[Any], wanted: list[Any]) -> None:
    both = [
        i
        for i in range(len(wanted))
        if wanted[i] is not None and found[i] is not None and wanted[i].requires_grad
    ]
    if not both:
        return
    try:
        wanted = its.grad(its.weighted([wanted[i] for i in both], 2), create_graph=False)
    except REFUSED:
        return
    double = mine.weighted([found[i] for i in both], 2)
    found = mine.grad(double, create_graph=False) if double.requires_grad else [None] * len(wanted)
    assert_same(f"double {case}", found, wanted, its.leaves)


@pytest.mark.parametrize("name", EVERY)
def test_gradients_of_complex_tensors_are_torchs(name: str) -> None:
    for item in samples_for(name):
        if not has_sparse(item):
            for variant in variants(name, item, "complex128"):
                check(name, variant)


@pytest.mark.parametrize("name", EVERY)
def test_gradients_in_the_smaller_type(name: str) -> None:
    for item in samples_for(name):
        if not has_sparse(item):
            check(name, complexified(item, "complex64"))


# Each takes the library and two square complex matrices, and gives another.
STEPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda lib, a, b: a * b + a,
    lambda lib, a, b: a / (b.abs() + 1),
    lambda lib, a, b: (a @ b) / 4,
    lambda lib, a, b: a.real * b,
    lambda lib, a, b: b - 1j * a.imag,
    lambda lib, a, b: a * b.conj().t(),
    lambda lib, a, b: lib.sin(a / 3),
    lambda lib, a, b: lib.exp(a / (a.abs() + 1)),
    lambda lib, a, b: lib.where(a.real > 0, a, b),
    lambda lib, a, b: lib.cat([a[1:], b[:1]]),
    lambda lib, a, b: a.sgn() + b.sum(0) / 3,
    lambda lib, a, b: lib.view_as_complex(lib.view_as_real(a).flip([0])),
    lambda lib, a, b: (a * 1).mul_(b.sgn()),
    lambda lib, a, b: written(a * 1, b),
    lambda lib, a, b: lib.sqrt(a) + b.mean(),
]


def written(target: Any, source: Any) -> Any:
    """A change through a view of the real parts, which is then part of the history of the whole."""
    target.real[0] = source.imag[1]
    return target


def run_program(lib: Any, make: Callable[[Any], Any], seed: int) -> tuple[Any, list[Any]]:
    choices = random.Random(seed)
    stream = np.random.default_rng(seed)
    shape = (2, 3, 3)
    parts = stream.normal(size=shape) + 1j * stream.normal(size=shape)
    leaves = [make(part.copy()).requires_grad_() for part in parts]
    values = list(leaves)
    for _ in range(12):
        step, first, second = choices.choice(STEPS), choices.choice(values), choices.choice(values)
        values.append(step(lib, first, second))
    return sum(value.abs() / 2 for value in values[-3:]).sum(), leaves


@pytest.mark.parametrize("seed", range(40))
def test_composed_programs_of_complex_tensors(seed: int) -> None:
    mine, leaves = run_program(tl, tl.from_numpy, seed)
    its, their_leaves = run_program(torch, torch.from_numpy, seed)
    np.testing.assert_allclose(mine.item(), its.item(), rtol=1e-9)
    found = tl.autograd.grad(mine, leaves, create_graph=True, allow_unused=True)
    wanted = torch.autograd.grad(its, their_leaves, create_graph=True, allow_unused=True)
    assert_same(f"program {seed}", list(found), list(wanted), their_leaves)
