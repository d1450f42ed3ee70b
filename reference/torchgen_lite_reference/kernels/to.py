"""Conversions of dtype and device. All of them return `self` when nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import as_device
from torchgen_lite_reference.formats import keeps_format

if TYPE_CHECKING:
    from torchgen_lite_reference.device import device as Device
    from torchgen_lite_reference.device import layout as Layout
    from torchgen_lite_reference.device import memory_format as MemoryFormat
    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.tensor import Tensor


def to_dtype_layout(
    self: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """The most general form; the others call it."""
    where = self._device if device is None else as_device(device)
    wanted = dtype or self._dtype
    if layout is not None and layout is not self.layout:
        raise RuntimeError(
            f"to() cannot change the layout from {self.layout} to {layout}; use to_dense() or to_sparse()"
        )
    same = where is self._device and wanted is self._dtype
    if same and not copy and keeps_format(self._shape, self._strides, memory_format):
        return self
    return ops._to_copy(
        self, dtype=wanted, device=where, non_blocking=non_blocking, memory_format=memory_format
    )


def to_device(
    self: Tensor,
    device: Device,
    dtype: DType,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return to_dtype_layout(self, device=device, dtype=dtype, copy=copy, memory_format=memory_format)


def to_dtype(
    self: Tensor,
    dtype: DType,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return to_dtype_layout(self, dtype=dtype, copy=copy, memory_format=memory_format)


def to_other(
    self: Tensor,
    other: Tensor,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return to_dtype_layout(
        self, dtype=other._dtype, device=other._device, copy=copy, memory_format=memory_format
    )


def type_as(self: Tensor, other: Tensor) -> Tensor:
    return to_other(self, other)
