"""Creation: the kernels that allocate, and the factories made of them.

`empty_*` and `resize_` are the kernels a backend has to bring. Everything else here allocates through the
dispatcher and fills through the dispatcher, so `zeros(..., device="meta")` needs no kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite.reference.device import (
    as_device,
    meta,
    preserve_format,
    sparse_coo,
)
from torchgen_lite.reference.dtype import get_default_dtype, of_value
from torchgen_lite.reference.formats import fresh_strides
from torchgen_lite.reference.kernels.common import finish
from torchgen_lite.reference.kernels.shapes import preserved_strides
from torchgen_lite.reference.sparse_tensor import empty_sparse as new_sparse
from torchgen_lite.reference.structured import TensorSpec
from torchgen_lite.reference.tensor import empty_strided as new_tensor
from torchgen_lite_ops import operators as ops

if TYPE_CHECKING:
    from torchgen_lite.reference.device import device as Device
    from torchgen_lite.reference.device import layout as Layout
    from torchgen_lite.reference.device import memory_format as MemoryFormat
    from torchgen_lite.reference.dtype import dtype as DType
    from torchgen_lite.reference.tensor import Number, Tensor


def empty_cpu(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Uninitialised memory, row-major or with the channels last."""
    shape = _checked(size)
    strides = fresh_strides(shape, memory_format)
    return new_tensor(shape, strides, dtype or get_default_dtype(), as_device(device))


def empty_out(
    size: Sequence[int], *, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor:
    return finish(
        out,
        TensorSpec(_checked(size), out._dtype, fresh_strides(tuple(size), memory_format)),
        lambda: None,
    )


def empty_meta(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A shape and a dtype without memory."""
    shape = _checked(size)
    strides = fresh_strides(shape, memory_format)
    return new_tensor(shape, strides, dtype or get_default_dtype(), meta)


def empty_sparse(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A COO tensor without elements, which is one of zeros."""
    wanted = dtype or get_default_dtype()
    return new_sparse(_checked(size), wanted, as_device(device))


def empty_strided_cpu(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    wanted = dtype or get_default_dtype()
    return new_tensor(_checked(size), tuple(stride), wanted, as_device(device))


def empty_strided_meta(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return new_tensor(_checked(size), tuple(stride), dtype or get_default_dtype(), meta)


def _checked(size: Sequence[int]) -> tuple[int, ...]:
    shape = tuple(size)
    if any(extent < 0 for extent in shape):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}"
        )
    return shape


def resize_(
    self: Tensor, size: Sequence[int], *, memory_format: MemoryFormat | None = None
) -> Tensor:
    """Another shape in place; the elements keep their order in memory, new ones are arbitrary."""
    shape = _checked(size)
    if shape != self._shape:
        self._set_geometry(shape, fresh_strides(shape, memory_format))
    return self


def zeros(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return ops.zero_(
        ops.empty_memory_format(
            size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
        )
    )


def zeros_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.zero_(_resized(out, size))


def ones(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    wanted = dtype or get_default_dtype()
    return ops.full(size, 1, dtype=wanted, layout=layout, device=device, pin_memory=pin_memory)


def ones_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.full_out(size, 1, out=out)


def full(
    size: Sequence[int],
    fill_value: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """One value everywhere. Without `dtype` the value decides: bool, int64, float or complex."""
    fresh = ops.empty_memory_format(
        size,
        dtype=dtype or of_value(fill_value),
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )
    return ops.fill__Scalar(fresh, fill_value)


def full_out(size: Sequence[int], fill_value: Number, *, out: Tensor) -> Tensor:
    return ops.fill__Scalar(_resized(out, size), fill_value)


def _resized(out: Tensor, size: Sequence[int]) -> Tensor:
    return finish(out, TensorSpec(_checked(size), out._dtype), lambda: None)


def scalar_tensor(
    s: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A zero-dimensional tensor, of the default float type unless told otherwise."""
    wanted = dtype or get_default_dtype()
    return ops.full([], s, dtype=wanted, layout=layout, device=device, pin_memory=pin_memory)


def empty_like(
    self: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """The shape of `self` and, unless a format is given, the order of its memory."""
    wanted, where = dtype or self._dtype, device or self._device
    form = layout or self.layout
    dense = form is not sparse_coo
    if dense and (memory_format is None or memory_format is preserve_format):
        strides = preserved_strides(self)
        if strides is not None:
            return ops.empty_strided(self._shape, strides, dtype=wanted, layout=form, device=where)
        memory_format = None
    return ops.empty_memory_format(
        self._shape, dtype=wanted, layout=form, device=where, memory_format=memory_format
    )


def zeros_like(
    self: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return ops.zero_(
        ops.empty_like(self, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    )


def ones_like(
    self: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return ops.full_like(
        self, 1, dtype=dtype, layout=layout, device=device, memory_format=memory_format
    )


def full_like(
    self: Tensor,
    fill_value: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    fresh = ops.empty_like(
        self, dtype=dtype, layout=layout, device=device, memory_format=memory_format
    )
    return ops.fill__Scalar(fresh, fill_value)


def new_empty(
    self: Tensor,
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Another shape, with the dtype, layout and device of `self`."""
    return ops.empty_memory_format(
        size,
        dtype=dtype or self._dtype,
        layout=layout or self.layout,
        device=device or self._device,
    )


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return ops.empty_strided(
        size,
        stride,
        dtype=dtype or self._dtype,
        layout=layout or self.layout,
        device=device or self._device,
    )


def new_zeros(
    self: Tensor,
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return ops.zero_(ops.new_empty(self, size, dtype=dtype, layout=layout, device=device))


def new_ones(
    self: Tensor,
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return ops.new_full(self, size, 1, dtype=dtype, layout=layout, device=device)


def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    fresh = ops.new_empty(self, size, dtype=dtype, layout=layout, device=device)
    return ops.fill__Scalar(fresh, fill_value)
