"""Operators on shapes that are composed of other operators, and therefore work on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import contiguous_format, cpu
from torchgen_lite_reference.dtype import int32, int64
from torchgen_lite_reference.geometry import broadcast_shapes, numel, wrap_dim
from torchgen_lite_reference.kernels.outputs import write_out
from torchgen_lite_reference.kernels.shapes import (
    infer_shape,
    ordered_dims,
    split_points,
    view_strides,
)
from torchgen_lite_reference.structured import ExactSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    """A view if the strides allow it, otherwise a copy."""
    wanted = infer_shape(shape, numel(self._shape))
    strides = view_strides(self._shape, self._strides, wanted)
    if strides is not None:
        return ops._reshape_alias(self, wanted, strides)
    return ops._unsafe_view(ops.clone(self, memory_format=contiguous_format), wanted)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` elements from `start` on, which may be counted from the end."""
    if not self._shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    size = self.size(dim)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return ops.slice_Tensor(self, dim, first, first + length, 1)


def split_sizes(self: Tensor, split_size: Sequence[int], dim: int = 0) -> list[Tensor]:
    return ops.split_with_sizes(self, split_size, dim)


def chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """At most `chunks` parts of one size, the last one perhaps smaller."""
    if not self._shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self.size(dim)
    part = -(-size // chunks)
    if part == 0:
        return ops.split_with_sizes(self, [0] * chunks, dim)
    return ops.split_Tensor(self, part, dim)


def tensor_split_sections(self: Tensor, sections: int, dim: int = 0) -> list[Tensor]:
    """Exactly `sections` parts, whose sizes differ by one at most."""
    _check_splittable(self)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    return _cut(self, split_points(self.size(dim), sections), dim)


def tensor_split_indices(self: Tensor, indices: Sequence[int], dim: int = 0) -> list[Tensor]:
    """Parts that begin where `indices` say."""
    _check_splittable(self)
    return _cut(self, indices, dim)


def tensor_split_tensor(
    self: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0
) -> list[Tensor]:
    """By a number of sections or by indices, depending on whether the tensor is a number or a vector."""
    given = tensor_indices_or_sections
    if given._dtype is not int64 or given._device is not cpu:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a long tensor on cpu, but got"
            f" {given._dtype.scalar_type} on {given._device}"
        )
    if given.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or"
            f" one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    if given._shape:
        return tensor_split_indices(self, given.tolist(), dim)
    return tensor_split_sections(self, int(given), dim)


def _check_splittable(self: Tensor) -> None:
    if not self._shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


def _cut(self: Tensor, points: Sequence[int], dim: int) -> list[Tensor]:
    starts, ends = [0, *points], [*points, self.size(dim)]
    return [ops.slice_Tensor(self, dim, start, end) for start, end in zip(starts, ends)]


def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
    return ops.expand(self, size)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    return ops.expand(self, other._shape)


def view_as(self: Tensor, other: Tensor) -> Tensor:
    return ops.view(self, other._shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return ops.reshape(self, other._shape)


def flatten_using_ints(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merges the dimensions from `start_dim` to `end_dim`, both included."""
    first, last = wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not self._shape:
        return ops.reshape(self, [1])
    if first == last:
        return self
    merged = numel(self._shape[first : last + 1])
    return ops.reshape(self, [*self._shape[:first], merged, *self._shape[last + 1 :]])


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """The opposite of `flatten`: one dimension becomes several; one of `sizes` may be -1."""
    dim = wrap_dim(dim, self.ndim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    inner = infer_shape(sizes, self._shape[dim])
    return ops.view(self, [*self._shape[:dim], *inner, *self._shape[dim + 1 :]])


def ravel(self: Tensor) -> Tensor:
    return ops.view(ops.contiguous(self), [-1])


def movedim_intlist(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Tensor:
    """Moves dimensions to new places; the others keep their order."""
    if len(source) != len(destination):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source"
            f" ({list(source)} dims) should contain the same number of dims as destination"
            f" ({list(destination)} dims)"
        )
    moved, places = ordered_dims(source, self.ndim), ordered_dims(destination, self.ndim)
    if not self._shape:
        return ops.alias(self)
    rest = iter([dim for dim in range(self.ndim) if dim not in moved])
    given = dict(zip(places, moved))
    order = [given[place] if place in given else next(rest) for place in range(self.ndim)]
    return ops.permute(self, order)


def movedim_int(self: Tensor, source: int, destination: int) -> Tensor:
    return ops.movedim_intlist(self, [source], [destination])


def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    return ops.transpose_int(self, axis0, axis1)


def swapdims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return ops.transpose_int(self, dim0, dim1)


def atleast_1d(self: Tensor) -> Tensor:
    return self if self._shape else ops.reshape(self, [1])


def atleast_2d(self: Tensor) -> Tensor:
    if not self._shape:
        return ops.reshape(self, [1, 1])
    return ops.unsqueeze(self, 0) if self.ndim == 1 else self


def meshgrid_indexing(tensors: Sequence[Tensor], *, indexing: str) -> list[Tensor]:
    """Coordinates of a grid, as expanded views; "xy" swaps the first two dimensions of all."""
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + indexing
        )
    inputs = list(tensors)
    if any(tensor.ndim > 1 for tensor in inputs):
        raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list")
    if any(tensor._dtype is not inputs[0]._dtype for tensor in inputs):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(inputs) >= 2
    if swap:
        inputs[0], inputs[1] = inputs[1], inputs[0]
    shape = [numel(tensor._shape) for tensor in inputs]
    grids: list[Tensor] = []
    for axis, tensor in enumerate(inputs):
        lone = [shape[axis] if axis == place else 1 for place in range(len(shape))]
        grids.append(ops.expand(ops.view(tensor, lone), shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return grids


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` with broadcasting of everything but `dim`; without `dim` of the flattened tensor."""
    if indices._dtype is not int64 and (dim is not None or indices._dtype is not int32):
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            + indices._dtype.scalar_type
        )
    if dim is None:
        return ops.gather(ops.view(self, [-1]), 0, ops.view(indices, [-1]))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but"
            f" got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = wrap_dim(dim, self.ndim)
    indices = ops.remainder_Scalar(indices, self._shape[dim])
    flat_self, flat_indices = list(self._shape), list(indices._shape)
    flat_self[dim] = flat_indices[dim] = 1
    common = list(broadcast_shapes(tuple(flat_self), tuple(flat_indices)))
    source, target = list(common), list(common)
    source[dim], target[dim] = self._shape[dim], indices._shape[dim]
    return ops.gather(ops.expand(self, source), dim, ops.expand(indices, target))


def take_along_dim_out(
    self: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor
) -> Tensor:
    return write_out(out, take_along_dim(self, indices, dim), ExactSpec)
