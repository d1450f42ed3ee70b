"""Sorting. NaN counts as the largest value, and equal values keep their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import BOOL, COMPLEX, int64
from torchgen_lite_reference.geometry import wrap_dim
from torchgen_lite_reference.kernels.common import store
from torchgen_lite_reference.kernels.shapes import preserved_strides
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Tensor


# Below so many elements one sort of everything is cheaper than a loop over lines.
_SHORT = 4096


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return ops.sort_stable(self, stable=False, dim=dim, descending=descending)


def sort_out(
    self: Tensor, dim: int = -1, descending: bool = False, *, values: Tensor, indices: Tensor
) -> tuple[Tensor, Tensor]:
    return ops.sort_values_stable(
        self, stable=False, dim=dim, descending=descending, values=values, indices=indices
    )


def meta_sort_stable(
    self: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[TensorSpec, TensorSpec]:
    wrap_dim(dim, self.ndim)
    if self._dtype.category == COMPLEX:
        raise RuntimeError("Sort does not support complex dtypes on CPU")
    strides = preserved_strides(self)
    return (
        ExactSpec(self._shape, self._dtype, strides, self._device),
        ExactSpec(self._shape, int64, strides, self._device),
    )


def sort_stable_out(
    self: Tensor,
    *,
    stable: bool | None,
    dim: int = -1,
    descending: bool = False,
    values: Tensor,
    indices: Tensor,
) -> None:
    """Always stable: NumPy's stable sort is not slower here."""
    source = self._array
    if not self._shape:
        store(values, source)
        store(indices, 0)
        return
    order = _sorted_places(source, wrap_dim(dim, self.ndim), descending)
    store(values, np.take_along_axis(source, order, wrap_dim(dim, self.ndim)))
    store(indices, order)


def _sorted_places(source: Array, axis: int, descending: bool) -> Array:
    """The original position of each element of the sorted dimension.

    Descending order is the ascending one of the reversed dimension, read backwards: so equal values
    keep their order then, too, and NaN comes first.
    """
    if not descending:
        return np.argsort(source, axis=axis, kind="stable")
    ascending = np.argsort(np.flip(source, axis), axis=axis, kind="stable")
    places: Array = source.shape[axis] - 1 - np.flip(ascending, axis)
    return places


def meta_topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[TensorSpec, TensorSpec]:
    dim = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self._shape[dim] if self._shape else 1):
        raise RuntimeError("selected index k out of range")
    if self._dtype.category in (BOOL, COMPLEX):
        raise RuntimeError(f"topk does not support {self._dtype.name} dtypes on CPU")
    shape = list(self._shape)
    if shape:
        shape[dim] = k
    return (
        ExactSpec(tuple(shape), self._dtype, None, self._device),
        ExactSpec(tuple(shape), int64, None, self._device),
    )


def topk_out_cpu(
    self: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    values: Tensor,
    indices: Tensor,
) -> None:
    """The `k` largest or smallest, in order whether asked for or not."""
    source = self._array
    if not self._shape:
        store(values, source)
        store(indices, 0)
        return
    axis = wrap_dim(dim, self.ndim)
    if source.size > _SHORT and k < source.shape[axis] // 8:
        lines = np.moveaxis(source, axis, -1)
        order = np.empty((*lines.shape[:-1], k), np.int64)
        for place in np.ndindex(order.shape[:-1]):
            order[place] = _first_places(lines[place], k, largest)
        order = np.moveaxis(order, -1, axis)
    else:
        order = np.take(_sorted_places(source, axis, largest), range(k), axis=axis)
    store(values, np.take_along_axis(source, order, axis))
    store(indices, order)


def _first_places(line: Array, k: int, largest: bool) -> Array:
    """The first places of the sorted line, which only those near them are sorted for."""
    if not k:
        return np.empty(0, np.int64)
    bound = np.partition(line, -k if largest else k - 1)[-k if largest else k - 1]
    # NaN is neither below a bound nor above it.
    near = np.flatnonzero(~(line < bound) if largest else ~(line > bound))
    return near[_sorted_places(line[near], 0, largest)[:k]]


def argsort(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return ops.sort(self, dim, descending)[1]


def argsort_stable(
    self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False
) -> Tensor:
    return ops.sort_stable(self, stable=stable, dim=dim, descending=descending)[1]
