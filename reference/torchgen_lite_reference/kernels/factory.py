"""Creation: the kernels that allocate, and the factories made of them.

`empty_*` and `resize_` are the kernels that a backend has to provide. Everything else here allocates through the
dispatcher and fills through the dispatcher, so `zeros(..., device="meta")` needs no kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import as_device, meta, preserve_format, sparse_coo
from torchgen_lite_reference.dtype import of_value
from torchgen_lite_reference.formats import fresh_strides
from torchgen_lite_reference.kernels.common import finish
from torchgen_lite_reference.kernels.shapes import preserved_strides
from torchgen_lite_reference.options import FormatOptions, TensorOptions, dtype_of
from torchgen_lite_reference.sparse_tensor import empty_sparse as new_sparse
from torchgen_lite_reference.structured import TensorSpec
from torchgen_lite_reference.tensor import empty_strided as new_tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from torchgen_lite_reference.device import memory_format as MemoryFormat
    from torchgen_lite_reference.tensor import Number, Tensor


def empty_cpu(size: Sequence[int], **options: Unpack[FormatOptions]) -> Tensor:
    """Uninitialized memory, row-major or with the channels last."""
    shape = _checked(size)
    strides = fresh_strides(shape, options.get("memory_format"))
    return new_tensor(shape, strides, dtype_of(options), as_device(options.get("device")))


def empty_out(
    size: Sequence[int], *, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor:
    return finish(
        out,
        TensorSpec(_checked(size), out._dtype, fresh_strides(tuple(size), memory_format)),
        lambda: None,
    )


def empty_meta(size: Sequence[int], **options: Unpack[FormatOptions]) -> Tensor:
    """A shape and a dtype without memory."""
    options["device"] = meta
    return empty_cpu(size, **options)


def empty_sparse(size: Sequence[int], **options: Unpack[FormatOptions]) -> Tensor:
    """A COO tensor without elements, which is one of zeros."""
    return new_sparse(_checked(size), dtype_of(options), as_device(options.get("device")))


def empty_strided_cpu(
    size: Sequence[int], stride: Sequence[int], **options: Unpack[TensorOptions]
) -> Tensor:
    on = as_device(options.get("device"))
    return new_tensor(_checked(size), tuple(stride), dtype_of(options), on)


def empty_strided_meta(
    size: Sequence[int], stride: Sequence[int], **options: Unpack[TensorOptions]
) -> Tensor:
    options["device"] = meta
    return empty_strided_cpu(size, stride, **options)


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


def zeros(size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    return ops.zero_(ops.empty_memory_format(size, **options))


def zeros_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.zero_(_resized(out, size))


def ones(size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    options["dtype"] = dtype_of(options)
    return ops.full(size, 1, **options)


def ones_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.full_out(size, 1, out=out)


def full(size: Sequence[int], fill_value: Number, **options: Unpack[TensorOptions]) -> Tensor:
    """One value everywhere. Without `dtype` the value decides: bool, int64, float or complex."""
    options["dtype"] = options.get("dtype") or of_value(fill_value)
    return ops.fill__Scalar(ops.empty_memory_format(size, **options), fill_value)


def full_out(size: Sequence[int], fill_value: Number, *, out: Tensor) -> Tensor:
    return ops.fill__Scalar(_resized(out, size), fill_value)


def _resized(out: Tensor, size: Sequence[int]) -> Tensor:
    return finish(out, TensorSpec(_checked(size), out._dtype), lambda: None)


def scalar_tensor(s: Number, **options: Unpack[TensorOptions]) -> Tensor:
    """A zero-dimensional tensor, of the default float type unless told otherwise."""
    options["dtype"] = dtype_of(options)
    return ops.full([], s, **options)


def empty_like(
    self: Tensor, *, memory_format: MemoryFormat | None = None, **options: Unpack[TensorOptions]
) -> Tensor:
    """The shape of `self` and, unless a format is given, the order of its memory."""
    options = _as_of(self, options)
    dense = options["layout"] is not sparse_coo
    if dense and (memory_format is None or memory_format is preserve_format):
        strides = preserved_strides(self)
        if strides is not None:
            return ops.empty_strided(self._shape, strides, **options)
        memory_format = None
    return ops.empty_memory_format(self._shape, **options, memory_format=memory_format)


def zeros_like(self: Tensor, **options: Unpack[FormatOptions]) -> Tensor:
    return ops.zero_(ops.empty_like(self, **options))


def ones_like(self: Tensor, **options: Unpack[FormatOptions]) -> Tensor:
    return ops.full_like(self, 1, **options)


def full_like(self: Tensor, fill_value: Number, **options: Unpack[FormatOptions]) -> Tensor:
    return ops.fill__Scalar(ops.empty_like(self, **options), fill_value)


def new_empty(self: Tensor, size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    """Another shape, with the dtype, layout and device of `self`."""
    return ops.empty_memory_format(size, **_as_of(self, options))


def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], **options: Unpack[TensorOptions]
) -> Tensor:
    return ops.empty_strided(size, stride, **_as_of(self, options))


def _as_of(self: Tensor, options: TensorOptions) -> TensorOptions:
    """The options, or those of a tensor where none are given."""
    return {
        "dtype": options.get("dtype") or self._dtype,
        "layout": options.get("layout") or self.layout,
        "device": options.get("device") or self._device,
    }


def new_zeros(self: Tensor, size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    return ops.zero_(ops.new_empty(self, size, **options))


def new_ones(self: Tensor, size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    return ops.new_full(self, size, 1, **options)


def new_full(
    self: Tensor, size: Sequence[int], fill_value: Number, **options: Unpack[TensorOptions]
) -> Tensor:
    return ops.fill__Scalar(ops.new_empty(self, size, **options), fill_value)
