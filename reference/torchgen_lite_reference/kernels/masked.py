"""Choosing by a condition: `where`, `masked_fill`, `masked_select`, `nonzero`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import contiguous_format, meta
from torchgen_lite_reference.dtype import bool_, int64, uint8
from torchgen_lite_reference.geometry import broadcast_shapes
from torchgen_lite_reference.kernels.common import exact, finish, operand, pointwise_spec, store
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.promotion import result_type
from torchgen_lite_reference.structured import TensorSpec, allocate

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor


def _where_spec(condition: Tensor, self: Tensor, other: Tensor) -> TensorSpec:
    if condition._dtype not in (bool_, uint8):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype"
            f" {condition._dtype.scalar_type}"
        )
    return exact(pointwise_spec(result_type(self, other), condition, self, other))


def _where_into(condition: Tensor, self: Tensor, other: Tensor, out: Tensor) -> None:
    wanted = result_type(self, other).numpy
    chosen = condition._array.astype(bool, copy=False)
    store(out, np.where(chosen, operand(self, wanted), operand(other, wanted)))


def where_self(condition: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """`self` where the condition holds and `other` elsewhere, all three broadcast."""
    spec = _where_spec(condition, self, other)
    fresh = allocate(spec, "CPU")
    return finish(fresh, spec, lambda: _where_into(condition, self, other, fresh))


def where_self_out(condition: Tensor, self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    spec = _where_spec(condition, self, other)
    return finish(out, spec, lambda: _where_into(condition, self, other, out))


def where_ScalarSelf(condition: Tensor, self: Number, other: Tensor) -> Tensor:
    dtype = result_type(other, self)
    number = ops.scalar_tensor(self, dtype=dtype, device=other._device)
    return ops.where_self(condition, number, ops.to_dtype(other, dtype))


def where_ScalarOther(condition: Tensor, self: Tensor, other: Number) -> Tensor:
    dtype = result_type(self, other)
    number = ops.scalar_tensor(other, dtype=dtype, device=self._device)
    return ops.where_self(condition, ops.to_dtype(self, dtype), number)


def where_Scalar(condition: Tensor, self: Number, other: Number) -> Tensor:
    dtype = result_type(self, other)
    first = ops.scalar_tensor(self, dtype=dtype, device=condition._device)
    second = ops.scalar_tensor(other, dtype=dtype, device=condition._device)
    return ops.where_self(condition, first, second)


def where(condition: Tensor) -> list[Tensor]:
    """The coordinates at which the condition holds, one vector for each dimension."""
    source = condition if condition._shape else ops.unsqueeze(condition, 0)
    return ops.unbind_int(ops.nonzero(source), 1)


def masked_fill_scalar(self: Tensor, mask: Tensor, value: Number) -> Tensor:
    return ops.masked_fill__Scalar(_broadcast_copy(self, mask), mask, value)


def masked_fill_tensor(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return ops.masked_fill__Tensor(_broadcast_copy(self, mask), mask, value)


def _broadcast_copy(self: Tensor, mask: Tensor) -> Tensor:
    shape = broadcast_shapes(self._shape, mask._shape)
    return ops.clone(ops.expand(self, shape), memory_format=contiguous_format)


def masked_fill__scalar(self: Tensor, mask: Tensor, value: Number) -> Tensor:
    """One value in place wherever the mask holds; the mask broadcasts to `self`."""
    if mask._dtype is not bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask._dtype.name}"
        )
    if broadcast_shapes(self._shape, mask._shape) != self._shape:
        raise RuntimeError(
            f"output with shape {list(self._shape)} doesn't match the broadcast shape"
            f" {list(broadcast_shapes(self._shape, mask._shape))}"
        )
    if self._device is not meta:
        np.copyto(self._array, element(value, self._dtype), where=mask._array)
    return self


def masked_fill__tensor(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    if value._shape:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with"
            f" {value.ndim} dimension(s)."
        )
    number: Number = 0 if value._device is meta else value._array.item()
    return masked_fill__scalar(self, mask, number)


def _selected(self: Tensor, mask: Tensor) -> Array:
    if mask._dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes(self._shape, mask._shape)
    values = np.broadcast_to(self._array, shape)
    chosen: Array = values[np.broadcast_to(mask._array, shape)]
    return chosen


def masked_select_cpu(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, as a vector."""
    fresh = ops.new_empty(self, [0])
    return masked_select_out_cpu(self, mask, out=fresh)


def masked_select_out_cpu(self: Tensor, mask: Tensor, *, out: Tensor) -> Tensor:
    values = _selected(self, mask)
    if out._dtype is not self._dtype:
        raise RuntimeError(
            "masked_select(): self and result must have the same scalar type, but got"
            f" {self._dtype.scalar_type} and {out._dtype.scalar_type}"
        )
    return finish(out, TensorSpec(values.shape, self._dtype), lambda: store(out, values))


def nonzero_cpu(self: Tensor) -> Tensor:
    """The coordinates of the elements that aren't zero, one row for each.

    Column-major, as ATen's are: each column is then a contiguous vector of indices.
    """
    return nonzero_out_cpu(self, out=ops.new_empty(self, [0], dtype=int64))


def nonzero_out_cpu(self: Tensor, *, out: Tensor) -> Tensor:
    if out._dtype is not int64:
        raise RuntimeError("nonzero: Expected out tensor to have scalar type Long")
    if self._shape:
        places = np.stack(np.nonzero(self._array), axis=1)
    else:
        places = np.zeros((int(bool(self._array)), 0), np.int64)
    spec = TensorSpec(places.shape, int64, (1, len(places)))
    return finish(out, spec, lambda: store(out, places))
