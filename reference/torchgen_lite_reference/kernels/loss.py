"""Losses whose kernels compute: squared, Huber, cross entropies of probabilities, negative likelihood.

`reduction` is ATen's enumeration: 0 keeps every element, 1 is their mean, 2 their sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import FLOATING, float16, int64, uint8
from torchgen_lite_reference.kernels.common import (
    finish,
    operand,
    pointwise_spec,
    store,
    unsupported,
)
from torchgen_lite_reference.promotion import result_type
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, TensorSpec, allocate

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Tensor

NONE, MEAN, SUM = 0, 1, 2


def _spec(name: str, self: Tensor, target: Tensor, reduction: int) -> TensorSpec:
    dtype = result_type(self, target)
    if dtype.category != FLOATING:
        raise unsupported(name, dtype)
    spec = pointwise_spec(dtype, self, target)
    return spec if reduction == NONE else TensorSpec((), dtype, None, spec.device)


def _pair(self: Tensor, target: Tensor) -> tuple[Array, Array]:
    """Both operands in their common type, or single precision for half."""
    dtype = result_type(self, target)
    wanted = np.dtype(np.float32) if dtype is float16 else dtype.numpy
    return operand(self, wanted), operand(target, wanted)


def _reduce(values: Array, reduction: int, out: Tensor) -> None:
    with quiet():
        if reduction == MEAN:
            values = values.sum() / values.dtype.type(values.size)
        store(out, values.sum() if reduction == SUM else values)


def meta_mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> TensorSpec:
    return _spec("mse_cpu", self, target, reduction)


def mse_loss_out(self: Tensor, target: Tensor, reduction: int = MEAN, *, out: Tensor) -> None:
    first, second = _pair(self, target)
    with quiet():
        _reduce(np.square(first - second), reduction, out)


def meta_smooth_l1_loss(
    self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0
) -> TensorSpec:
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _spec("smooth_l1_cpu", self, target, reduction)


def smooth_l1_loss_out(
    self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0, *, out: Tensor
) -> None:
    """Squared below `beta`, linear above it."""
    first, second = _pair(self, target)
    with quiet():
        gap = np.abs(first - second)
        near = 0.5 * gap * gap / beta if beta else gap
        _reduce(np.where(gap < beta, near, gap - 0.5 * beta), reduction, out)


def _huber_into(self: Tensor, target: Tensor, reduction: int, delta: float, out: Tensor) -> None:
    first, second = _pair(self, target)
    with quiet():
        gap = np.abs(first - second)
        far = delta * (gap - 0.5 * delta)
        _reduce(np.where(gap <= delta, 0.5 * gap * gap, far), reduction, out)


def _huber_spec(self: Tensor, target: Tensor, reduction: int, delta: float) -> TensorSpec:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _spec("huber_cpu", self, target, reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    spec = _huber_spec(self, target, reduction, delta)
    return ops.huber_loss_out(self, target, reduction, delta, out=allocate(spec, "CPU"))


def huber_loss_out(
    self: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0, *, out: Tensor
) -> Tensor:
    """`smooth_l1_loss` times delta: its slope far away is `delta` and not 1."""
    spec = _huber_spec(self, target, reduction, delta)
    return finish(out, spec, lambda: _huber_into(self, target, reduction, delta, out))


def _entropy_spec(self: Tensor, target: Tensor, reduction: int) -> TensorSpec:
    if self._shape != target._shape:
        raise ValueError(
            f"Using a target size ({list(target._shape)}) that is different to the input size"
            f" ({list(self._shape)}) is deprecated. Please ensure they have the same size."
        )
    return _spec("binary_cross_entropy", self, target, reduction)


def _entropy_into(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, out: Tensor
) -> None:
    """The logarithms are at least -100, or else a certain but wrong prediction would have an infinite loss."""
    x, y = _pair(self, target)
    if ((x < 0) | (x > 1)).any():
        raise RuntimeError("all elements of input should be between 0 and 1")
    with quiet():
        losses = (y - 1) * np.maximum(np.log1p(-x), -100) - y * np.maximum(np.log(x), -100)
        if weight is not None:
            losses = losses * weight._array
        _reduce(losses, reduction, out)


def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    out = allocate(_entropy_spec(self, target, reduction), "CPU")
    return ops.binary_cross_entropy_out(self, target, weight, reduction, out=out)


def binary_cross_entropy_out(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    *,
    out: Tensor,
) -> Tensor:
    spec = _entropy_spec(self, target, reduction)
    return finish(out, spec, lambda: _entropy_into(self, target, weight, reduction, out))


def meta_nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[TensorSpec, TensorSpec]:
    """Shapes (C) with a scalar target, or (N, C) with a target of N classes."""
    if not 0 < self.ndim <= 2:
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1 or (self.ndim == 1 and target.ndim == 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if self.ndim == 2 and target.ndim == 1 and self._shape[0] != target._shape[0]:
        raise RuntimeError(
            f"size mismatch (got input: {list(self._shape)}, target: {list(target._shape)})"
        )
    if weight is not None and weight._shape != (self._shape[-1],):
        raise RuntimeError(
            "weight tensor should be defined either for all"
            f" {self._shape[-1]} classes or no classes but got weight tensor of shape:"
            f" {list(weight._shape)}"
        )
    if self._dtype.category != FLOATING:
        raise unsupported("nll_loss_out_frame", self._dtype)
    if target._dtype not in (int64, uint8):
        raise RuntimeError(f"expected scalar type Long but found {target._dtype.scalar_type}")
    shape = (self._shape[0],) if reduction == NONE and self.ndim == 2 else ()
    return (
        ExactSpec(shape, self._dtype, None, self._device),
        ExactSpec((), self._dtype, None, self._device),
    )


def nll_loss_forward_out_cpu(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    *,
    output: Tensor,
    total_weight: Tensor,
) -> None:
    """Minus the entry of each row that its class names, weighted by class."""
    rows, classes = np.atleast_2d(self._array), np.atleast_1d(target._array)
    if rows.dtype == np.float16:
        rows = rows.astype(np.float32)
    counted = classes != ignore_index
    wrong = counted & ((classes < 0) | (classes >= rows.shape[1]))
    if wrong.any():
        raise IndexError(f"Target {int(classes[wrong][0])} is out of bounds.")
    chosen = np.where(counted, classes, 0).astype(np.int64)
    weights = counted.astype(rows.dtype)
    if weight is not None:
        weights = weights * weight._array[chosen]
    picked = rows[np.arange(len(chosen)), chosen]
    losses = np.where(counted, -picked * weights, 0)
    total = weights.sum()
    with quiet():
        if reduction == NONE and self.ndim == 2:
            store(output, losses)
            store(total_weight, 0)
            return
        store(output, losses.sum() / total if reduction == MEAN else losses.sum())
        store(total_weight, total)
