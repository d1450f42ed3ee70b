"""Indexing by several tensors at once: `x[i, :, j]`, read and written.

The list of indices has one entry for each dimension from the first on; None stands for a whole
dimension. Integer tensors broadcast together; a mask counts as the integer tensors of its `nonzero`.
NumPy's rule for the place of the indexed dimensions is the same as ATen's: in place if the indices are adjacent, or in
front if a whole dimension separates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import bool_, int32, int64, uint8
from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    broadcast_shapes,
    contiguous_strides,
    expand_strides,
    iterator_strides,
)
from torchgen_lite_reference.kernels.common import store
from torchgen_lite_reference.kernels.shapes import view_strides
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

# For each dimension: the shape and strides of its index, or None for the whole dimension.
IndexGeometry = list[tuple[Shape, Strides] | None]


def _check(self: Tensor, indices: Sequence[Tensor | None]) -> None:
    used = 0
    for index in indices:
        if index is None:
            used += 1
            continue
        if index._dtype not in (int64, int32, bool_, uint8):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        mask = index._dtype in (bool_, uint8)
        if mask and index._shape != self._shape[used : used + index.ndim]:
            raise IndexError(
                f"The shape of the mask {list(index._shape)} at index {used} does not match the shape of"
                f" the indexed tensor {list(self._shape)} at index {used}"
            )
        used += index.ndim if mask else 1
    if used > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim} (got {used})")


def _geometries(self: Tensor, indices: Sequence[Tensor | None]) -> IndexGeometry:
    result: IndexGeometry = []
    for index in indices:
        if index is None:
            result.append(None)
        elif index._dtype in (bool_, uint8):
            if index._device is meta:
                raise NotImplementedError(
                    "indexing with a mask on the meta device: the shape of the result depends on the data"
                )
            count = int(np.count_nonzero(index._array))
            result += [((count,), (index.ndim,))] * index.ndim
        else:
            result.append((index._shape, index._strides))
    return result + [None] * (self.ndim - len(result))


def meta_index_Tensor(self: Tensor, indices: Sequence[Tensor | None]) -> TensorSpec:
    """The shape of the result, and the strides that ATen's iterator would give it."""
    _check(self, indices)
    geometries = _geometries(self, indices)
    common: Shape = ()
    for geometry in geometries:
        if geometry is not None:
            common = broadcast_shapes(common, geometry[0])
    indexed = [dim for dim, geometry in enumerate(geometries) if geometry is not None]
    whole = [dim for dim in range(self.ndim) if dim not in indexed]
    adjacent = not indexed or indexed == list(range(indexed[0], indexed[-1] + 1))
    lead = [dim for dim in whole if adjacent and indexed and dim < indexed[0]]
    rest = [dim for dim in whole if dim not in lead]
    shape = tuple(
        [self._shape[dim] for dim in lead] + list(common) + [self._shape[dim] for dim in rest]
    )
    operands = [
        (
            shape,
            tuple(self._strides[dim] for dim in lead)
            + (0,) * len(common)
            + tuple(self._strides[dim] for dim in rest),
        )
    ]
    for geometry in geometries:
        if geometry is not None:
            operands.append(
                (shape, _index_strides(geometry, len(lead), len(common), len(rest), shape))
            )
    strides = None if 0 in shape else _iterated(shape, operands)
    return ExactSpec(shape, self._dtype, strides, self._device)


def _index_strides(
    geometry: tuple[Shape, Strides], lead: int, inner: int, rest: int, shape: Shape
) -> Strides:
    """Strides of an index among the whole dimensions, where it has the size 1."""
    sizes, strides = geometry
    seen = (1,) * (lead + inner - len(sizes)) + sizes + (1,) * rest
    viewed = view_strides(sizes, strides, seen) or contiguous_strides(seen)
    return expand_strides(seen, viewed, shape)


def _iterated(shape: Shape, operands: Sequence[tuple[Shape, Strides]]) -> Strides | None:
    strides = iterator_strides(shape, operands)
    return None if strides == contiguous_strides(shape) else strides


def _numpy_index(self: Tensor, indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """The same indices for NumPy, with integers checked against the size of the dimension."""
    result: list[Any] = []
    for index in indices:
        if index is None:
            result.append(slice(None))
        elif index._dtype in (bool_, uint8):
            result += list(np.nonzero(index._array)) if index._shape else _scalar_mask(index)
        else:
            array, size = index._array, self._shape[len(result)]
            wrong = (array < -size) | (array >= size)
            if wrong.any():
                raise IndexError(
                    f"index {int(array[wrong].flat[0])} is out of bounds for dimension {len(result)} with"
                    f" size {size}"
                )
            result.append(array)
    return tuple(result)


def _scalar_mask(index: Tensor) -> list[Any]:
    raise IndexError("unsqueeze a zero-dimensional mask, together with the tensor that it indexes")


def index_out(self: Tensor, indices: Sequence[Tensor | None], *, out: Tensor) -> None:
    store(out, self._array[_numpy_index(self, indices)])


def index_put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    return ops.index_put_(ops.clone(self), indices, values, accumulate)


def index_put_(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    return ops._index_put_impl_(self, indices, values, accumulate, False)


def _index_put_impl_(
    self: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Tensor:
    """Writes `values`, broadcast, to the indexed places; with `accumulate`, adds them up."""
    if values._dtype is not self._dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got"
            f" {self._dtype.scalar_type} for the destination and {values._dtype.scalar_type} for the"
            " source."
        )
    _check(self, indices)
    if self._device is meta:
        return self
    where = _numpy_index(self, indices)
    try:
        with quiet():
            if accumulate:
                np.add.at(self._array, where, values._array)
            else:
                self._array[where] = values._array
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values._shape)} cannot be broadcast to indexing"
            f" result of shape {list(self._array[where].shape)}"
        ) from None
    return self
