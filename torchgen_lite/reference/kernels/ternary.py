"""Element-wise operators of three operands: clamp, lerp, addcmul, addcdiv."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite.reference.dtype import BOOL, COMPLEX, INTEGER, dtype
from torchgen_lite.reference.kernels.common import (
    operand,
    pointwise_spec,
    quiet,
    store,
    unsupported,
)
from torchgen_lite.reference.promotion import result_type
from torchgen_lite.reference.storage import Array
from torchgen_lite.reference.structured import TensorSpec
from torchgen_lite.reference.tensor import Number, Tensor

Bound = Tensor | Number | None


def _clamp_spec(self: Tensor, low: Bound, high: Bound) -> TensorSpec:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(self, low, high)
    if common.category == COMPLEX:
        raise RuntimeError("clamp is not supported for complex types")
    if common.category == BOOL:
        raise unsupported("clamp_scalar_cpu", common)
    tensors = [bound for bound in (low, high) if isinstance(bound, Tensor)]
    return pointwise_spec(common, self, *tensors)


def _bound_spec(self: Tensor, bound: Tensor) -> TensorSpec:
    """A maximum or a minimum, which bool has too."""
    common = result_type(self, bound)
    if common.category == COMPLEX:
        raise RuntimeError("clamp is not supported for complex types")
    return pointwise_spec(common, self, bound)


def _bound(value: Tensor | Number, common: np.dtype[Any]) -> Array:
    if isinstance(value, Tensor):
        return operand(value, common)
    return np.asarray(value).astype(common)


def _clamp_into(self: Tensor, low: Bound, high: Bound, out: Tensor) -> None:
    """min(max(x, low), high); nan in any of them wins."""
    common = result_type(self, low, high).numpy
    result = operand(self, common)
    with quiet():
        if low is not None:
            result = np.maximum(result, _bound(low, common))
        if high is not None:
            result = np.minimum(result, _bound(high, common))
    store(out, result)


def meta_clamp(self: Tensor, min: Number | None = None, max: Number | None = None) -> TensorSpec:
    return _clamp_spec(self, min, max)


def clamp_out(
    self: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor
) -> None:
    _clamp_into(self, min, max, out)


def meta_clamp_Tensor(
    self: Tensor, min: Tensor | None = None, max: Tensor | None = None
) -> TensorSpec:
    if min is None and max is not None:
        return _bound_spec(self, max)
    if max is None and min is not None:
        return _bound_spec(self, min)
    return _clamp_spec(self, min, max)


def clamp_Tensor_out(
    self: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor
) -> None:
    _clamp_into(self, min, max, out)


def meta_clamp_min(self: Tensor, min: Number) -> TensorSpec:
    return _clamp_spec(self, min, None)


def clamp_min_out(self: Tensor, min: Number, *, out: Tensor) -> None:
    _clamp_into(self, min, None, out)


def meta_clamp_min_Tensor(self: Tensor, min: Tensor) -> TensorSpec:
    return _bound_spec(self, min)


def clamp_min_Tensor_out(self: Tensor, min: Tensor, *, out: Tensor) -> None:
    _clamp_into(self, min, None, out)


def meta_clamp_max(self: Tensor, max: Number) -> TensorSpec:
    return _clamp_spec(self, None, max)


def clamp_max_out(self: Tensor, max: Number, *, out: Tensor) -> None:
    _clamp_into(self, None, max, out)


def meta_clamp_max_Tensor(self: Tensor, max: Tensor) -> TensorSpec:
    return _bound_spec(self, max)


def clamp_max_Tensor_out(self: Tensor, max: Tensor, *, out: Tensor) -> None:
    _clamp_into(self, None, max, out)


# Interpolation. ATen wants one dtype for all tensors and promotes nothing.


def _lerp_spec(self: Tensor, end: Tensor, weight: Tensor | Number) -> TensorSpec:
    named = [("end", end)]
    if isinstance(weight, Tensor):
        named.append(("weight", weight))
    for name, other in named:
        if other._dtype is not self._dtype:
            raise RuntimeError(
                f"expected dtype {self._dtype.numpy} for `{name}`"
                f" but got dtype {other._dtype.numpy}"
            )
    if self._dtype.category <= INTEGER:
        raise unsupported("lerp_kernel_scalar", self._dtype)
    return pointwise_spec(self._dtype, self, *(other for _, other in named))


def _wide(given: dtype) -> np.dtype[Any]:
    """Half precision is computed in single and rounded once."""
    return np.dtype(np.float32) if given.name == "float16" else given.numpy


def _lerp_into(self: Tensor, end: Tensor, weight: Array, out: Tensor) -> None:
    wide = _wide(self._dtype)
    start, stop = operand(self, wide), operand(end, wide)
    with quiet():
        # ATen's formula: from the nearer end, so that weight 1 gives `end` exactly.
        near = np.abs(weight) < 0.5
        step = stop - start
        result = np.where(near, start + weight * step, stop - step * (1 - weight))
    store(out, result)


def meta_lerp_Scalar(self: Tensor, end: Tensor, weight: Number) -> TensorSpec:
    return _lerp_spec(self, end, weight)


def lerp_Scalar(self: Tensor, end: Tensor, weight: Number, *, out: Tensor) -> None:
    _lerp_into(self, end, np.asarray(weight).astype(_wide(self._dtype)), out)


def meta_lerp_Tensor(self: Tensor, end: Tensor, weight: Tensor) -> TensorSpec:
    return _lerp_spec(self, end, weight)


def lerp_Tensor(self: Tensor, end: Tensor, weight: Tensor, *, out: Tensor) -> None:
    _lerp_into(self, end, operand(weight, _wide(self._dtype)), out)


# self + value * tensor1 * tensor2, and with a quotient.


def meta_addcmul(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1
) -> TensorSpec:
    common = result_type(self, tensor1, tensor2)
    if common.category == BOOL:
        raise unsupported("addcmul_cpu_out", common)
    _check_value(common, value)
    return pointwise_spec(common, self, tensor1, tensor2)


def addcmul_out(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor
) -> None:
    wide = _wide(result_type(self, tensor1, tensor2))
    scale = np.asarray(value).astype(wide)
    with quiet():
        product = scale * operand(tensor1, wide) * operand(tensor2, wide)
        store(out, operand(self, wide) + product)


def meta_addcdiv(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1
) -> TensorSpec:
    if tensor1._dtype.category <= INTEGER and tensor2._dtype.category <= INTEGER:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported; convert the tensors to a"
            " floating type first, or use floor_divide for the rounded quotient."
        )
    common = result_type(self, tensor1, tensor2)
    _check_value(common, value)
    return pointwise_spec(common, self, tensor1, tensor2)


def addcdiv_out(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor
) -> None:
    wide = _wide(result_type(self, tensor1, tensor2))
    scale = np.asarray(value).astype(wide)
    with quiet():
        quotient = scale * operand(tensor1, wide) / operand(tensor2, wide)
        store(out, operand(self, wide) + quotient)


def _check_value(common: dtype, value: Number) -> None:
    """A fraction is cut off for an integer result; a complex value doesn't fit a real one."""
    if isinstance(value, complex) and value.imag and common.category < COMPLEX:
        raise RuntimeError(f"value cannot be converted to type {common.numpy} without overflow")
