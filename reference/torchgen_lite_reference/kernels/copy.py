"""Moving elements: copy_, clone, contiguous, _to_copy, fill, zero_, item.

`copy_` and `_to_copy` serve every backend whose tensors have NumPy memory (the reference's own CPU
and an out-of-tree one that uses `wrap_array`), as well as Meta, which has nothing to move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.device import (
    as_device,
    contiguous_format,
    device,
    layout,
    memory_format,
    meta,
    preserve_format,
)
from torchgen_lite_reference.dtype import BOOL, dtype
from torchgen_lite_reference.formats import format_strides, is_in_format
from torchgen_lite_reference.geometry import broadcast_shapes
from torchgen_lite_reference.kernels.common import operand
from torchgen_lite_reference.kernels.elements import filling
from torchgen_lite_reference.silence import converted, silently
from torchgen_lite_reference.structured import check_no_overlap
from torchgen_lite_reference.tensor import Number, Tensor, empty_strided

DType = dtype
Device = device
Layout = layout
MemoryFormat = memory_format


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src`, broadcast and converted, into `self`."""
    if self is src:
        return self
    if src.is_sparse:
        src = operators._to_dense(src)
    if broadcast_shapes(self._shape, src._shape) != self._shape:
        raise RuntimeError(
            f"output with shape {list(self._shape)} doesn't match the broadcast shape"
            f" {list(broadcast_shapes(self._shape, src._shape))}"
        )
    check_no_overlap(self)
    if self._device is meta:
        return self
    if src._device is meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    source = src._array
    if self._dtype.category == BOOL or source.dtype.kind == "c":
        source = converted(source, self._dtype.numpy)
    silently(np.copyto, self._array, source, casting="unsafe")
    return self


def clone(self: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy with its own memory; dense strides are kept unless a memory format is asked for."""
    strides = format_strides(self._shape, self._strides, memory_format, preserve_format)
    result = empty_strided(self._shape, strides, self._dtype, self._device)
    return operators.copy_(result, self)


def contiguous(self: Tensor, *, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """The tensor itself if its elements are in that order, else a copy."""
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if is_in_format(self._shape, self._strides, memory_format):
        return self
    return operators.clone(self, memory_format=memory_format)


def _to_copy(
    self: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A copy with another dtype or on another device."""
    if self.is_sparse:
        return _sparse_to_copy(self, dtype, device)
    on = self._device if device is None else as_device(device)
    strides = format_strides(self._shape, self._strides, memory_format, preserve_format)
    result = empty_strided(self._shape, strides, dtype or self._dtype, on)
    return operators.copy_(result, self, non_blocking)


def _sparse_to_copy(self: Tensor, dtype: DType | None, device: Device | None) -> Tensor:
    from torchgen_lite_reference.sparse_tensor import SparseTensor

    assert isinstance(self, SparseTensor)
    indices = operators._to_copy(self._coo_indices, device=device)
    values = operators._to_copy(self._coo_values, dtype=dtype, device=device)
    return SparseTensor(indices, values, self._shape, self._coo_coalesced)


# Filling.


def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """Kernel of the Scalar and of the Tensor overload. An expanded tensor is filled as well."""
    self._array[...] = _fill_value(self, value)
    return self


def _fill_value(self: Tensor, value: Tensor | Number) -> Any:
    if not isinstance(value, Tensor):
        return filling(value, self._dtype)
    if value._shape:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with"
            f" {value.ndim} dimensions."
        )
    return operand(value, self._dtype.numpy)


def fill_meta_(self: Tensor, value: Tensor | Number) -> Tensor:
    return self


def fill(self: Tensor, value: Tensor | Number) -> Tensor:
    """A tensor like `self` full of a value (functional form of `fill_`)."""
    strides = format_strides(self._shape, self._strides, None, preserve_format)
    fresh = empty_strided(self._shape, strides, self._dtype, self._device)
    if isinstance(value, Tensor):
        return operators.fill__Tensor(fresh, value)
    return operators.fill__Scalar(fresh, value)


def zero_(self: Tensor) -> Tensor:
    self._array[...] = 0
    return self


def zero_meta_(self: Tensor) -> Tensor:
    return self


# One element as a Python number.


def item(self: Tensor) -> Number:
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    if self._device is meta:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    return operators._local_scalar_dense(self)


def _local_scalar_dense_cpu(self: Tensor) -> Number:
    value: Number = self._array.reshape(-1)[0].item()
    return value
