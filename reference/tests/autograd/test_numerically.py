"""Each formula, compared with finite differences of the operator; needs no other library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from autograd.programs import run

STEP = 1e-6
# Away from kinks, poles and the ends of domains.
SMOOTH = "exp exp2 sin cos tanh sinh cosh atan asinh sigmoid erf erfc expm1 silu mish gelu softplus"
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal"
INSIDE = "asin acos atanh tan"


def numerical(function: Callable[..., tl.Tensor], arrays: list[Any], which: int) -> Any:
    """The gradient of a weighted sum of the result, by central differences."""
    result = function(*map(tl.from_numpy, arrays))
    weight = np.random.default_rng(1).normal(size=tuple(result.shape))

    def value(array: Any) -> float:
        given = [array if i == which else other for i, other in enumerate(arrays)]
        with tl.no_grad():
            return float(np.sum(function(*map(tl.from_numpy, given)).numpy() * weight))

    gradient = np.zeros_like(arrays[which])
    for index in np.ndindex(*arrays[which].shape):
        high, low = arrays[which].copy(), arrays[which].copy()
        high[index] += STEP
        low[index] -= STEP
        gradient[index] = (value(high) - value(low)) / (2 * STEP)
    return gradient


def check(function: Callable[..., tl.Tensor], *arrays: Any) -> None:
    leaves = [tl.from_numpy(array.copy()).requires_grad_() for array in arrays]
    result = function(*leaves)
    weight = tl.from_numpy(np.random.default_rng(1).normal(size=tuple(result.shape)))
    found = tl.autograd.grad((result * weight).sum(), leaves)
    for which, gradient in enumerate(found):
        assert gradient is not None
        wanted = numerical(function, list(arrays), which)
        np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-5, atol=1e-6)


def array(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


UNARY = [(name, -2.0, 2.0) for name in SMOOTH.split()]
UNARY += [(name, 0.3, 2.0) for name in POSITIVE.split()]
UNARY += [(name, -0.8, 0.8) for name in INSIDE.split()] + [("acosh", 1.2, 3.0)]


@pytest.mark.parametrize(("name", "low", "high"), UNARY)
def test_element_wise_formulas(name: str, low: float, high: float) -> None:
    check(getattr(tl, name), array(2, 3, low=low, high=high))


PROGRAMS: dict[str, tuple[Callable[..., tl.Tensor], tuple[Any, ...]]] = {
    "div": (tl.div, (array(2, 3), array(3, low=0.5))),
    "pow": (tl.pow, (array(2, 3, low=0.5), array(3))),
    "atan2": (tl.atan2, (array(2, 3, low=0.5), array(2, 3, seed=1))),
    "mm": (tl.mm, (array(2, 3), array(3, 4))),
    "bmm": (tl.bmm, (array(2, 2, 3), array(2, 3, 2))),
    "addmm": (
        lambda a, b, c: tl.addmm(a, b, c, beta=0.5, alpha=2),
        (array(4), array(2, 3), array(3, 4)),
    ),
    "linear": (tl.linear, (array(2, 3), array(4, 3), array(4))),
    "prod": (lambda x: tl.prod(x, 1), (array(2, 3),)),
    "cumprod": (lambda x: tl.cumprod(x, 1), (array(2, 3),)),
    "var": (lambda x: tl.var(x, [1]), (array(2, 3),)),
    "norm": (lambda x: tl.linalg_vector_norm(x, 3, [1]), (array(2, 3),)),
    "softmax": (lambda x: tl.softmax(x, 1), (array(2, 3),)),
    "log_softmax": (lambda x: tl.log_softmax(x, 0), (array(2, 3),)),
    "logsumexp": (lambda x: tl.logsumexp(x, [0, 1]), (array(2, 3),)),
    "layer_norm": (lambda x, w, b: tl.layer_norm(x, [3], w, b), (array(2, 3), array(3), array(3))),
    "group_norm": (
        lambda x, w, b: tl.group_norm(x, 2, w, b),
        (array(2, 4, 3), array(4), array(4)),
    ),
    "as_strided": (lambda x: tl.as_strided(x, [2, 2], [1, 2], 1), (array(2, 3),)),
    "unfold": (lambda x: x.unfold(1, 2, 1), (array(2, 4),)),
    "repeat": (lambda x: x.repeat([2, 1, 2]), (array(2, 3),)),
    "lerp": (tl.lerp, (array(3), array(3, seed=1), array(3, seed=2))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_other_formulas(name: str) -> None:
    function, arrays = PROGRAMS[name]
    check(function, *arrays)


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed: int) -> None:
    total, leaves = run(tl, tl.from_numpy, seed, 12)
    if not total.requires_grad:
        return
    found = tl.autograd.grad(total, leaves, allow_unused=True)
    for which, gradient in enumerate(found):
        if gradient is None:
            continue

        def value(shift: float, which: int = which) -> float:
            def make(given: Any) -> Any:
                made.append(given)
                moved = given + shift if len(made) == which + 1 else given
                return tl.from_numpy(moved)

            made: list[Any] = []
            return float(run(tl, make, seed, 12)[0].item())

        slope = (value(STEP) - value(-STEP)) / (2 * STEP)
        np.testing.assert_allclose(float(gradient.sum()), slope, rtol=1e-4, atol=1e-5)
