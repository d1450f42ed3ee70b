"""Element-wise operators of three operands: clamp, lerp, addcmul, addcdiv."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_reference.dtype import BOOL, COMPLEX, INTEGER, dtype, float16, float32
from torchgen_lite_reference.kernels.common import (
    exact,
    operand,
    pointwise_spec,
    run,
    store,
    unary_spec,
    unsupported,
)
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.promotion import result_type
from torchgen_lite_reference.silence import quiet, silently
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.structured import ExactSpec, TensorSpec
from torchgen_lite_reference.tensor import Number, Tensor

Bound = Tensor | Number | None


def _clamp_spec(self: Tensor, low: Bound, high: Bound) -> TensorSpec:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(self, low, high)
    if common.category == COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    if common.category == BOOL:
        raise unsupported("clamp_scalar_cpu", common)
    tensors = [bound for bound in (low, high) if isinstance(bound, Tensor)]
    return (
        pointwise_spec(common, self, *tensors) if tensors else unary_spec(self, common, ExactSpec)
    )


def _bound_spec(self: Tensor, bound: Tensor) -> TensorSpec:
    """A maximum or a minimum, which bool has too."""
    common = result_type(self, bound)
    if common.category == COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    return pointwise_spec(common, self, bound)


def _bound(value: Tensor | Number, common: dtype) -> Array:
    if isinstance(value, Tensor):
        return operand(value, common.numpy)
    bound: Array = element(value, common)
    return bound


def _clamp_into(self: Tensor, low: Bound, high: Bound, out: Tensor) -> None:
    """min(max(x, low), high); nan in any of them wins."""
    common = result_type(self, low, high)
    array = operand(self, common.numpy)
    if low is None:
        assert high is not None
        run(np.minimum, out, array, _bound(high, common))
    elif high is None:
        run(np.maximum, out, array, _bound(low, common))
    else:
        bounds = _bound(low, common), _bound(high, common)
        silently(np.clip, array, *bounds, out=out._array, casting="unsafe")


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
    return np.dtype(np.float32) if given is float16 else given.numpy


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
    return exact(_lerp_spec(self, end, weight))


def lerp_Tensor(self: Tensor, end: Tensor, weight: Tensor, *, out: Tensor) -> None:
    _lerp_into(self, end, operand(weight, _wide(self._dtype)), out)


# self + value * tensor1 * tensor2, and with a quotient.


def meta_addcmul(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1
) -> TensorSpec:
    common = result_type(self, tensor1, tensor2)
    if common.category == BOOL:
        raise unsupported("addcmul_cpu_out", common)
    return pointwise_spec(common, self, tensor1, tensor2)


def addcmul_out(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor
) -> None:
    common = result_type(self, tensor1, tensor2)
    wide, scale = _wide(common), _scale(value, common)
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
    return pointwise_spec(common, self, tensor1, tensor2)


def addcdiv_out(
    self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor
) -> None:
    common = result_type(self, tensor1, tensor2)
    wide, scale = _wide(common), _scale(value, common)
    with quiet():
        quotient = scale * operand(tensor1, wide) / operand(tensor2, wide)
        store(out, operand(self, wide) + quotient)


def _scale(value: Number, common: dtype) -> Any:
    return element(value, float32 if common is float16 else common)
