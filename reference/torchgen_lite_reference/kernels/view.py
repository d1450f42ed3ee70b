"""Views: another shape and strides over the same storage, on the CPU and on Meta alike.

The kernels compute a geometry. On the CPU that is all; elsewhere they call `as_strided` with it, through the
dispatcher, so a backend that implements `as_strided` has them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import cpu
from torchgen_lite_reference.geometry import numel, span, wrap_dim
from torchgen_lite_reference.kernels.shapes import (
    expand_geometry,
    infer_shape,
    ordered_dims,
    view_strides,
)

if TYPE_CHECKING:
    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.tensor import Tensor


def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Any window on the storage of `self`; RuntimeError if it would reach outside."""
    offset = self._offset if storage_offset is None else storage_offset
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if offset < 0 or (stride and min(stride) < 0):
        raise RuntimeError(
            "as_strided: Negative strides and offsets are not supported at the moment, got strides:"
            f" {list(stride)}, offset: {offset}"
        )
    reach = span(tuple(size), tuple(stride))
    needed = (offset + reach) * self._dtype.itemsize
    if reach and self._storage.base is not None and needed > self._storage.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize"
            f" {self._dtype.itemsize} requiring a storage size of {needed} are out of bounds for storage"
            f" of size {self._storage.nbytes}"
        )
    return self._as_strided(size, stride, offset)


def _window(self: Tensor, shape: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """A part of `self`, so that nothing has to be checked."""
    if self._device is cpu and not self.is_sparse:
        return self._as_strided(shape, strides, offset)
    return ops.as_strided(self, shape, strides, offset)


def view(self: Tensor, size: Sequence[int]) -> Tensor:
    """The same elements in another shape; RuntimeError if that requires a copy."""
    shape = infer_shape(size, numel(self._shape))
    strides = view_strides(self._shape, self._strides, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension"
            " spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return self._as_strided(shape, strides, self._offset)


def _reshape_alias(self: Tensor, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    return self._as_strided(size, stride, self._offset)


def view_dtype(self: Tensor, dtype: DType) -> Tensor:
    """The same bytes read as another type; the last dimension grows or shrinks with the item size."""
    old, new = self._dtype.itemsize, dtype.itemsize
    shape, strides, offset = list(self._shape), list(self._strides), self._offset
    if old != new:
        if not shape:
            raise RuntimeError(
                "self.dim() cannot be 0 to view"
                f" {self._dtype.scalar_type} as {dtype.scalar_type} (different element sizes)"
            )
        if strides[-1] != 1:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {self._dtype.scalar_type} as {dtype.scalar_type}"
                f" (different element sizes), but got {strides[-1]}"
            )
        counts = [shape[-1], offset, *strides[:-1]]
        if any(count * old % new for count in counts):
            raise RuntimeError(
                f"self.size(-1), self.storage_offset() and self.stride() must be divisible by {new // old}"
                f" to view {self._dtype.scalar_type} as {dtype.scalar_type} (different element sizes)"
            )
        shape[-1], offset, *strides[:-1] = (count * old // new for count in counts)
    result = self._as_strided(shape, strides, offset)
    result._dtype = dtype
    return result


def alias(self: Tensor) -> Tensor:
    return _window(self, self._shape, self._strides, self._offset)


def detach(self: Tensor) -> Tensor:
    return ops.alias(self)


def _unsafe_view(self: Tensor, size: Sequence[int]) -> Tensor:
    """`view` whose result is not tracked as a view, for storage that nothing else refers to."""
    return ops.view(self, size)


def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the length of"
            f" the desired ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to"
            f" len(dims) = {len(dims)}"
        )
    order = ordered_dims(dims, self.ndim)
    shape = [self._shape[dim] for dim in order]
    return _window(self, shape, [self._strides[dim] for dim in order], self._offset)


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    first, second = wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)
    if first == second:
        return ops.alias(self)
    shape, strides = list(self._shape), list(self._strides)
    shape[first], shape[second] = shape[second], shape[first]
    strides[first], strides[second] = strides[second], strides[first]
    return _window(self, shape, strides, self._offset)


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix; fewer dimensions stay as they are."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return _window(self, self._shape[::-1], self._strides[::-1], self._offset)


def expand(self: Tensor, size: Sequence[int], *, implicit: bool = False) -> Tensor:
    """Repeats dimensions of size 1 without a copy: their stride becomes 0."""
    shape, strides = expand_geometry(self._shape, self._strides, size)
    return _window(self, shape, strides, self._offset)


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """One slice, without its dimension."""
    if not self._shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, self.ndim)
    size = self._shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self._shape)} at dimension"
            f" {dim}"
        )
    start = self._offset + index % size * self._strides[dim]
    shape = self._shape[:dim] + self._shape[dim + 1 :]
    return _window(self, shape, self._strides[:dim] + self._strides[dim + 1 :], start)


def slice_tensor(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """`self[start:end:step]` along one dimension, with Python's clamping."""
    if not self._shape:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    dim = wrap_dim(dim, self.ndim)
    first, last, _ = slice(start, end, step).indices(self._shape[dim])
    shape, strides = list(self._shape), list(self._strides)
    shape[dim] = max(0, -(-(last - first) // step))
    strides[dim] *= step
    return _window(self, shape, strides, self._offset + first * self._strides[dim])


def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as a new last one."""
    rows, columns = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    if rows == columns:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(self._shape[rows] - down, self._shape[columns] - right), 0)
    start = self._offset
    if length:
        start += down * self._strides[rows] + right * self._strides[columns]
    rest = [dim for dim in range(self.ndim) if dim not in (rows, columns)]
    shape = [*(self._shape[dim] for dim in rest), length]
    step = self._strides[rows] + self._strides[columns]
    return _window(self, shape, [*(self._strides[dim] for dim in rest), step], start)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements, `step` apart, with the window as a new last dimension."""
    dim = wrap_dim(dimension, self.ndim)
    extent = self._shape[dim] if self._shape else 1
    stride = self._strides[dim] if self._shape else 1
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {extent} but size is {size}"
        )
    if size < 0 or step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    shape, strides = [*self._shape, size], [*self._strides, stride]
    if self._shape:
        shape[dim] = (extent - size) // step + 1
        strides[dim] = step * stride
    return self._as_strided(shape, strides, self._offset)


def squeeze(self: Tensor) -> Tensor:
    return _keep(self, [dim for dim, size in enumerate(self._shape) if size != 1])


def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    return squeeze_dims(self, [dim])


def squeeze_dims(self: Tensor, dim: Sequence[int]) -> Tensor:
    """Drops those of the dimensions that have size 1."""
    dropped = ordered_dims(dim, self.ndim)
    kept = [d for d, size in enumerate(self._shape) if d not in dropped or size != 1]
    return _keep(self, kept)


def _keep(self: Tensor, dims: Sequence[int]) -> Tensor:
    shape = [self._shape[dim] for dim in dims]
    return _window(self, shape, [self._strides[dim] for dim in dims], self._offset)


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1."""
    place = wrap_dim(dim, self.ndim + 1)
    step = self._shape[place] * self._strides[place] if place < self.ndim else 1
    shape, strides = list(self._shape), list(self._strides)
    shape.insert(place, 1)
    strides.insert(place, step)
    return _window(self, shape, strides, self._offset)


def split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Parts of `split_size`, the last one perhaps smaller."""
    size = self.size(dim)
    if split_size < 0 or (split_size == 0 and size):
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    if not size:
        return [ops.slice_Tensor(self, dim, 0, 0)]
    return [
        ops.slice_Tensor(self, dim, start, min(start + split_size, size))
        for start in range(0, size, split_size)
    ]


def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    if any(size < 0 for size in split_sizes) or sum(split_sizes) != self.size(dim):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self.size(dim)} (input tensor's size"
            f" at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    parts: list[Tensor] = []
    start = 0
    for size in split_sizes:
        parts.append(ops.slice_Tensor(self, dim, start, start + size))
        start += size
    return parts


def unbind(self: Tensor, dim: int = 0) -> list[Tensor]:
    if not self._shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return [ops.select_int(self, dim, index) for index in range(self.size(dim))]
