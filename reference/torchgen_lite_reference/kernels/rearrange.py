"""Joining, repeating and reordering: results with storage of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import contiguous_format, meta
from torchgen_lite_reference.formats import fresh_strides, suggested_format
from torchgen_lite_reference.geometry import Strides, wrap_dim
from torchgen_lite_reference.kernels.common import common_device, store
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.kernels.outputs import write_out
from torchgen_lite_reference.kernels.shapes import ordered_dims
from torchgen_lite_reference.promotion import can_cast, result_type
from torchgen_lite_reference.structured import ExactSpec, FilledSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor


class _JoinedSpec(TensorSpec):
    """A result of `cat`, whose error has a different class."""

    __slots__ = ()

    def check_dtype(self, out: Tensor) -> None:
        if not can_cast(self.dtype, out._dtype):
            raise TypeError(
                "torch.cat(): input types can't be cast to the desired output type"
                f" {out._dtype.scalar_type}"
            )


def _joined(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The operands of `cat` that count: an empty vector joins tensors of any shape (an old rule)."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, tensor in enumerate(tensors):
        if not tensor._shape:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            )
    return [tensor for tensor in tensors if tensor._shape != (0,)]


def meta_cat(tensors: Sequence[Tensor], dim: int = 0) -> TensorSpec:
    dtype = result_type(*tensors) if tensors else None
    parts = _joined(tensors)
    assert dtype is not None
    on = common_device(*tensors)
    if not parts:
        wrap_dim(dim, 1)
        return _JoinedSpec((0,), dtype, None, on)
    dim = wrap_dim(dim, parts[0].ndim)
    shape = list(parts[0]._shape)
    for place, part in enumerate(parts[1:], start=1):
        if part.ndim != len(shape):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(shape)} and {part.ndim}"
            )
        for axis, (size, wanted) in enumerate(zip(part._shape, shape)):
            if axis != dim and size != wanted:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {wanted} but"
                    f" got size {size} for tensor number {place} in the list."
                )
    shape[dim] = sum(part._shape[dim] for part in parts)
    return _JoinedSpec(tuple(shape), dtype, _joined_strides(tensors, shape), on)


def _joined_strides(parts: Sequence[Tensor], shape: Sequence[int]) -> Strides | None:
    """The memory format that all parts agree on (ATen `cat_compute_output_memory_format`)."""
    formats = {suggested_format(part._shape, part._strides) for part in parts}
    return fresh_strides(tuple(shape), formats.pop()) if len(formats) == 1 else None


def cat_out_cpu(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor) -> None:
    parts = _joined(tensors)
    if parts:
        wanted = result_type(*tensors).numpy
        arrays = [part._array.astype(wanted, copy=False) for part in parts]
        store(out, np.concatenate(arrays, axis=dim))


def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return ops.cat(tensors, dim)


def concat_out(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor) -> Tensor:
    return ops.cat_out(tensors, dim, out=out)


def _stacked(tensors: Sequence[Tensor], dim: int) -> list[Tensor]:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._shape
    for place, tensor in enumerate(tensors):
        if tensor._shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and"
                f" {list(tensor._shape)} at entry {place}"
            )
    place = wrap_dim(dim, len(first) + 1)
    return [ops.unsqueeze(tensor, place) for tensor in tensors]


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    parts = _stacked(tensors, dim)
    return ops.cat(parts, wrap_dim(dim, parts[0].ndim))


def stack_out(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor) -> Tensor:
    parts = _stacked(tensors, dim)
    return ops.cat_out(parts, wrap_dim(dim, parts[0].ndim), out=out)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Side by side: along dimension 1, or 0 for vectors."""
    parts = [ops.atleast_1d(tensor) for tensor in tensors]
    if not parts:
        raise RuntimeError("hstack expects a non-empty TensorList")
    return ops.cat(parts, 0 if parts[0].ndim == 1 else 1)


def hstack_out(tensors: Sequence[Tensor], *, out: Tensor) -> Tensor:
    return write_out(out, hstack(tensors), _JoinedSpec)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """On top of each other: rows of a matrix."""
    if not tensors:
        raise RuntimeError("vstack expects a non-empty TensorList")
    return ops.cat([ops.atleast_2d(tensor) for tensor in tensors], 0)


def vstack_out(tensors: Sequence[Tensor], *, out: Tensor) -> Tensor:
    return write_out(out, vstack(tensors), _JoinedSpec)


def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    """Copies side by side, `repeats[d]` of them along dimension d."""
    lead = len(repeats) - self.ndim
    if lead < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    sizes = [1] * lead + list(self._shape)
    spread: list[int] = []
    wanted: list[int] = []
    for size, count in zip(sizes, repeats):
        spread += [1, size]
        wanted += [count, size]
    tiles = ops.expand(ops.reshape(self, spread), wanted)
    dense = ops.clone(tiles, memory_format=contiguous_format)
    return ops._unsafe_view(dense, [size * count for size, count in zip(sizes, repeats)])


def tile(self: Tensor, dims: Sequence[int]) -> Tensor:
    """`repeat` with the missing leading counts taken as 1."""
    return ops.repeat(self, [1] * (self.ndim - len(dims)) + list(dims))


def flip(self: Tensor, dims: Sequence[int]) -> Tensor:
    reversed_dims = ordered_dims(dims, self.ndim)
    result = ops.empty_like(self)
    if self._device is not meta:
        store(result, np.flip(self._array, reversed_dims) if self._shape else self._array)
    return result


def fliplr(self: Tensor) -> Tensor:
    if self.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return ops.flip(self, [1])


def flipud(self: Tensor) -> Tensor:
    if self.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return ops.flip(self, [0])


def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """Elements move along a dimension and re-enter at its other end; without dims, the tensor is flattened."""
    if not dims and len(shifts) == 1:
        flat = ops.view(ops.contiguous(self), [-1])
        return ops.view(roll(flat, shifts, (0,)), self._shape)
    if len(shifts) != len(dims) or not shifts:
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if 0 in self._shape:
        return ops.clone(self)
    result = self
    for step, axis in zip(shifts, dims):
        size = result.size(axis)
        start = -step % size
        ends = ops.narrow(result, axis, start, size - start), ops.narrow(result, axis, 0, start)
        result = ops.cat(ends, axis)
    return result


def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """A quarter turn, `k` times, in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = ordered_dims(dims, self.ndim)
    turns = k % 4
    if turns == 0:
        return ops.clone(self, memory_format=contiguous_format)
    if turns == 2:
        return ops.flip(self, dims)
    flipped = ops.flip(self, [second if turns == 1 else first])
    return ops.transpose_int(flipped, first, second)


def meta_tril(self: Tensor, diagonal: int = 0) -> TensorSpec:
    if self.ndim < 2:
        raise RuntimeError("tril: input tensor must have at least 2 dimensions")
    return FilledSpec(self._shape, self._dtype, None, self._device)


def tril_cpu(self: Tensor, diagonal: int = 0, *, out: Tensor) -> None:
    rows, columns = self._shape[-2:]
    _cut(self, ~np.tri(rows, columns, diagonal, dtype=bool), out)


def meta_triu(self: Tensor, diagonal: int = 0) -> TensorSpec:
    if self.ndim < 2:
        raise RuntimeError("triu: input tensor must have at least 2 dimensions")
    return FilledSpec(self._shape, self._dtype, None, self._device)


def triu_cpu(self: Tensor, diagonal: int = 0, *, out: Tensor) -> None:
    rows, columns = self._shape[-2:]
    _cut(self, np.tri(rows, columns, diagonal - 1, dtype=bool), out)


def _cut(self: Tensor, dropped: Array, out: Tensor) -> None:
    """The matrices with zeros at some places."""
    if out is not self:
        store(out, self._array)
    np.copyto(out._array, 0, where=dropped, casting="unsafe")


def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A vector on the diagonal of a matrix, or the diagonal of a matrix as a vector; always a copy."""
    if self.ndim == 1:
        return ops.diag_embed(self, diagonal)
    if self.ndim == 2:
        return ops.clone(ops.diagonal(self, diagonal), memory_format=contiguous_format)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")


def diag_out(self: Tensor, diagonal: int = 0, *, out: Tensor) -> Tensor:
    return write_out(out, diag(self, diagonal), ExactSpec)


def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension on the diagonal of two new ones."""
    ndim = self.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = self.size(-1)
    shape = list(self._shape[:-1])
    for place in sorted((first, second)):
        shape.insert(place, length + abs(offset))
    result = ops.new_zeros(self, shape)
    ops.copy_(ops.diagonal(result, offset, first, second), self)
    return result


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Number = 0) -> Tensor:
    """Pads the last dimensions; `pad` is (before, after) from the last one on, negative ones crop."""
    if len(pad) % 2 or len(pad) > 2 * self.ndim:
        raise RuntimeError(
            f"Length of pad must be even and at most twice the number of dimensions, got {list(pad)}"
        )
    source, shape = self, list(self._shape)
    window: list[tuple[int, int]] = []
    for place in range(len(pad) // 2):
        dim = self.ndim - 1 - place
        before, after = pad[2 * place], pad[2 * place + 1]
        crop = max(-before, 0), max(-after, 0)
        if shape[dim] + before + after < 0:
            raise RuntimeError(
                f"The input size {shape[dim]}, plus negative padding {before} and {after}, resulted in a"
                " negative output size, which is invalid."
            )
        source = ops.narrow(source, dim, crop[0], shape[dim] - sum(crop))
        shape[dim] += before + after
        window.append((dim, max(before, 0)))
    result = ops.new_full(self, shape, element(value, self._dtype).item())
    target = result
    for dim, start in window:
        target = ops.narrow(target, dim, start, source._shape[dim])
    ops.copy_(target, source)
    return result


def pad(
    self: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    if mode != "constant":
        raise NotImplementedError(f"pad: the only supported mode is 'constant', not '{mode}'")
    return ops.constant_pad_nd(self, pad, 0.0 if value is None else value)
