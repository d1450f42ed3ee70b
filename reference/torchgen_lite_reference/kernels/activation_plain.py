"""Activations without a structured form in ATen, and those made of other operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import BOOL, COMPLEX, FLOATING, INTEGER, uint8
from torchgen_lite_reference.kernels.common import finish, store, unary_spec, unsupported
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Number, Tensor

# Klambauer et al., "Self-Normalizing Neural Networks": the fixed point is at mean 0 and variance 1.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _bounded_spec(self: Tensor, low: Any, high: Any) -> TensorSpec:
    if low > high:
        raise ValueError("min_val cannot be greater than max_val")
    if self._dtype is uint8 and (int(low) < 0 or int(high) < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    if self._dtype.category == BOOL:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self._dtype.category == COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    return unary_spec(self, self._dtype, ExactSpec)


def _clip_into(self: Tensor, low: Any, high: Any, out: Tensor) -> None:
    if self._dtype.category == INTEGER:
        low, high = int(low), int(high)
    bounds = element(low, self._dtype), element(high, self._dtype)
    store(out, np.minimum(np.maximum(self._array, bounds[0]), bounds[1]))


def hardtanh(self: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor:
    """The value, but no less than `min_val` and no more than `max_val`."""
    _bounded_spec(self, min_val, max_val)
    return ops.hardtanh_out(self, min_val, max_val, out=ops.empty_like(self))


def hardtanh_out(self: Tensor, min_val: Number = -1, max_val: Number = 1, *, out: Tensor) -> Tensor:
    spec = _bounded_spec(self, min_val, max_val)
    return finish(out, spec, lambda: _clip_into(self, min_val, max_val, out))


def hardtanh_(self: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor:
    return ops.hardtanh_out(self, min_val, max_val, out=self)


def _hardswish_spec(self: Tensor) -> TensorSpec:
    if self._dtype.category != FLOATING:
        raise unsupported("hardswish_cpu", self._dtype)
    return unary_spec(self, self._dtype, ExactSpec)


def _hardswish_into(self: Tensor, out: Tensor) -> None:
    x = self._array.astype(np.float32) if self._dtype.itemsize == 2 else self._array
    with quiet():
        store(out, x * np.clip(x + 3, 0, 6) / 6)


def hardswish(self: Tensor) -> Tensor:
    _hardswish_spec(self)
    return ops.hardswish_out(self, out=ops.empty_like(self))


def hardswish_out(self: Tensor, *, out: Tensor) -> Tensor:
    return finish(out, _hardswish_spec(self), lambda: _hardswish_into(self, out))


def hardswish_(self: Tensor) -> Tensor:
    return ops.hardswish_out(self, out=self)


def relu6(self: Tensor) -> Tensor:
    return ops.hardtanh(self, 0, 6)


def relu6_(self: Tensor) -> Tensor:
    return ops.hardtanh_(self, 0, 6)


def selu(self: Tensor) -> Tensor:
    return ops.elu(self, _SELU_ALPHA, _SELU_SCALE)


def selu_(self: Tensor) -> Tensor:
    return ops.elu_(self, _SELU_ALPHA, _SELU_SCALE)


def celu(self: Tensor, alpha: Number = 1.0) -> Tensor:
    """`elu` that is smooth at zero for every alpha."""
    return ops.elu(self, alpha, 1.0, _inverse(alpha))


def celu_(self: Tensor, alpha: Number = 1.0) -> Tensor:
    return ops.elu_(self, alpha, 1.0, _inverse(alpha))


def _inverse(alpha: Number) -> Number:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return 1.0 / alpha


def log_sigmoid(self: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))), without overflow on either side; always row-major, as in ATen."""
    if self._dtype.category != FLOATING:
        raise unsupported("log_sigmoid_cpu", self._dtype)
    rows = ops.contiguous(self)
    tail = ops.log1p(ops.exp(ops.neg(ops.abs(rows))))
    return ops.sub_Tensor(ops.clamp_max(rows, 0), tail)
