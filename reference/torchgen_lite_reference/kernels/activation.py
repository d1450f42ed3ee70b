"""Activations that ATen builds as structured element-wise operators.

Each has a meta function, which only checks the dtype, and a kernel, which computes in single precision
or better: `wide` turns half into single, and the result is rounded once when it is stored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_reference.dtype import BOOL, COMPLEX, FLOATING
from torchgen_lite_reference.geometry import iterator_strides, wrap_dim
from torchgen_lite_reference.kernels.common import store, unary_spec, unsupported
from torchgen_lite_reference.kernels.elements import element, wide
from torchgen_lite_reference.kernels.error_function import erf
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, FilledSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Number, Tensor


def _real_spec(name: str, self: Tensor) -> TensorSpec:
    """The spec of an activation of floating-point numbers."""
    if self._dtype.category != FLOATING:
        raise unsupported(name, self._dtype)
    return unary_spec(self, self._dtype, ExactSpec)


def meta_gelu(self: Tensor, *, approximate: str = "none") -> TensorSpec:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _real_spec("GeluKernelImpl", self)


def gelu_out_cpu(self: Tensor, *, approximate: str = "none", out: Tensor) -> None:
    """x times the normal distribution function at x, exactly or by its usual tanh formula."""
    x = wide(self)
    with quiet():
        if approximate == "tanh":
            inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
            store(out, 0.5 * x * (1.0 + np.tanh(inner)))
        else:
            cdf = np.atleast_1d(erf(np.atleast_1d(x * x.dtype.type(math.sqrt(0.5)))))
            cdf += 1
            cdf *= 0.5
            store(out, (cdf.reshape(x.shape) * x))


def meta_silu(self: Tensor) -> TensorSpec:
    if self._dtype.category < FLOATING:
        raise unsupported("silu_cpu", self._dtype)
    return unary_spec(self, self._dtype, ExactSpec)


def silu_out(self: Tensor, *, out: Tensor) -> None:
    x = wide(self)
    with quiet():
        store(out, x / (1.0 + np.exp(-x)))


def meta_mish(self: Tensor) -> TensorSpec:
    return _real_spec("mish_cpu", self)


def mish_out(self: Tensor, *, out: Tensor) -> None:
    x = wide(self)
    with quiet():
        store(out, x * np.tanh(np.log1p(np.exp(x))))


def meta_elu(
    self: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1
) -> TensorSpec:
    return _real_spec("elu_cpu", self)


def elu_out(
    self: Tensor,
    alpha: Number = 1,
    scale: Number = 1,
    input_scale: Number = 1,
    *,
    out: Tensor,
) -> None:
    x = wide(self)
    with quiet():
        negative = np.expm1(x * input_scale) * (alpha * scale)
        store(out, np.where(x < 0, negative, x * scale))


def meta_leaky_relu(self: Tensor, negative_slope: Number = 0.01) -> TensorSpec:
    return _real_spec("leaky_relu_cpu", self)


def leaky_relu_out(self: Tensor, negative_slope: Number = 0.01, *, out: Tensor) -> None:
    x = wide(self)
    with quiet():
        store(out, np.where(x > 0, x, x * negative_slope))


def meta_softplus(self: Tensor, beta: Number = 1, threshold: Number = 20) -> TensorSpec:
    return _real_spec("softplus_cpu", self)


def softplus_out(self: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor) -> None:
    """log(1 + exp(beta x)) / beta, and x itself from where the two don't differ any more."""
    x = wide(self)
    with quiet():
        scaled = x * beta
        store(out, np.where(scaled > threshold, x, np.log1p(np.exp(scaled)) / beta))


def meta_threshold(self: Tensor, threshold: Number, value: Number) -> TensorSpec:
    if self._dtype.category in (BOOL, COMPLEX):
        raise unsupported("threshold_cpu", self._dtype)
    return unary_spec(self, self._dtype, FilledSpec)


def threshold_out(self: Tensor, threshold: Number, value: Number, *, out: Tensor) -> None:
    x = self._array
    bound, fill = element(threshold, self._dtype), element(value, self._dtype)
    store(out, np.where(x <= bound, fill, x))


def meta_hardsigmoid(self: Tensor) -> TensorSpec:
    return _real_spec("hardsigmoid_cpu", self)


def hardsigmoid_out(self: Tensor, *, out: Tensor) -> None:
    store(out, np.clip(wide(self) + 3, 0, 6) / 6)


def meta_hardshrink(self: Tensor, lambd: Number = 0.5) -> TensorSpec:
    return _real_spec("hardshrink_cpu", self)


def hardshrink_out(self: Tensor, lambd: Number = 0.5, *, out: Tensor) -> None:
    x, bound = wide(self), element(_real(lambd), self._dtype)
    store(out, np.where((x >= -bound) & (x <= bound), 0, x))


def meta_softshrink(self: Tensor, lambd: Number = 0.5) -> TensorSpec:
    if _real(lambd) < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return _real_spec("softshrink_cpu", self)


def softshrink_out(self: Tensor, lambd: Number = 0.5, *, out: Tensor) -> None:
    x, bound = wide(self), _real(lambd)
    with quiet():
        store(out, np.where(x > bound, x - bound, np.where(x < -bound, x + bound, x * 0)))


def _real(value: Number) -> float:
    """A bound as a number that can be compared; complex ones can't."""
    if isinstance(value, complex):
        raise RuntimeError("a bound must be a real number")
    return value


def meta_glu(self: Tensor, dim: int = -1) -> TensorSpec:
    if not self._shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, self.ndim)
    if self._shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {self._shape[dim]}"
        )
    if self._dtype.category != FLOATING:
        raise unsupported("glu_cpu", self._dtype)
    shape = (*self._shape[:dim], self._shape[dim] // 2, *self._shape[dim + 1 :])
    strides = iterator_strides(shape, [(shape, self._strides)] * 2)
    return TensorSpec(shape, self._dtype, strides, self._device)


def glu_out(self: Tensor, dim: int = -1, *, out: Tensor) -> None:
    """The first half, weighted by the sigmoid of the second."""
    halves: list[Any] = np.split(wide(self), 2, axis=dim)
    with quiet():
        store(out, halves[0] / (1.0 + np.exp(-halves[1])))
