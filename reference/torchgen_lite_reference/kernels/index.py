"""Gathering and scattering by tensors of integers along one dimension.

A zero-dimensional tensor counts as a vector of one element, here as in ATen: hence `_vector`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import int32, int64
from torchgen_lite_reference.geometry import numel, wrap_dim
from torchgen_lite_reference.kernels.common import finish, store
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor

_INDEX_TYPES = (int64, int32)


def _vector(array: Array) -> Array:
    return array if array.ndim else array.reshape(1)


def _positions(
    index: Tensor, dim: int, size: int, error: type[Exception] = IndexError, lowest: int = 0
) -> Array:
    """The index as an array, every element of which has been checked."""
    array = _vector(index._array)
    if array.size and (array.min() < lowest or array.max() >= size):
        wrong = array[(array < lowest) | (array >= size)]
        raise error(
            f"index {int(wrong.flat[0])} is out of bounds for dimension {dim} with size {size}"
        )
    return array


def _check_index(name: str, index: Tensor) -> None:
    if index._dtype not in _INDEX_TYPES:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def _check_gatherable(name: str, self: Tensor, dim: int, index: Tensor, src: Tensor | None) -> int:
    dim = wrap_dim(dim, self.ndim)
    if numel(index._shape) == 0:
        return dim
    _check_index(name, index)
    for what, other in (("input", self), ("src", src)):
        if other is not None and max(index.ndim, 1) != max(other.ndim, 1):
            raise RuntimeError(
                f"{name}(): Index tensor must have the same number of dimensions as {what} tensor"
            )
    for axis, size in enumerate(index._shape):
        for other, skipped in ((self, dim), (src, -1)):
            if other is not None and other._shape and axis != skipped and size > other._shape[axis]:
                raise RuntimeError(
                    f"{name}(): Expected index {list(index._shape)} to be no larger than"
                    f" {list(other._shape)} apart from dimension {dim}"
                )
    return dim


def _coordinates(index: Array, dim: int) -> tuple[Any, ...]:
    """What NumPy needs to address `x[i][index[i][j]]`: an open grid with `index` in place of `dim`."""
    grid: list[Any] = list(np.ogrid[tuple(slice(0, size) for size in index.shape)])
    grid[dim] = index
    return tuple(grid)


def meta_gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> TensorSpec:
    _check_gatherable("gather", self, dim, index, None)
    return ExactSpec(index._shape, self._dtype, None, self._device)


def gather_out(
    self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor
) -> None:
    if numel(index._shape) == 0:
        return
    dim = wrap_dim(dim, self.ndim)
    source = _vector(self._array)
    positions = _positions(index, dim, source.shape[dim], RuntimeError)
    store(out, source[_coordinates(positions, dim)].reshape(index._shape))


def _scatter_spec(
    name: str, self: Tensor, dim: int, index: Tensor, src: Tensor | None
) -> TensorSpec:
    _check_gatherable(name, self, dim, index, src)
    if src is not None and src._dtype is not self._dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    return ExactSpec(self._shape, self._dtype, None, self._device)


def _scatter_into(
    self: Tensor, dim: int, index: Tensor, values: Array, out: Tensor, add: Any = None
) -> None:
    """Overwrites elements; with a ufunc in `add`, combines old and new values."""
    if out is not self:
        store(out, self._array)
    if numel(index._shape) == 0:
        return
    target = _vector(out._array)
    dim = wrap_dim(dim, self.ndim)
    positions = _positions(index, dim, target.shape[dim], RuntimeError)
    if values.ndim:
        values = values[tuple(slice(0, size) for size in positions.shape)]
    where = _coordinates(positions, dim)
    if add is not None:
        add.at(target, where, values)
    else:
        target[where] = values


def meta_scatter_src(self: Tensor, dim: int, index: Tensor, src: Tensor) -> TensorSpec:
    return _scatter_spec("scatter", self, dim, index, src)


def scatter_src_out(self: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor) -> None:
    _scatter_into(self, dim, index, src._array, out)


def meta_scatter_value(self: Tensor, dim: int, index: Tensor, value: Number) -> TensorSpec:
    return _scatter_spec("scatter", self, dim, index, None)


def scatter_value_out(self: Tensor, dim: int, index: Tensor, value: Number, *, out: Tensor) -> None:
    _scatter_into(self, dim, index, element(value, self._dtype), out)


_REDUCTIONS = {"add": np.add, "multiply": np.multiply}


def _check_reduction(reduce: str) -> None:
    if reduce not in _REDUCTIONS:
        raise RuntimeError("reduce argument must be either add or multiply.")


def meta_scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str
) -> TensorSpec:
    _check_reduction(reduce)
    return _scatter_spec("scatter", self, dim, index, src)


def scatter_reduce_out(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str, out: Tensor
) -> None:
    _scatter_into(self, dim, index, src._array, out, _REDUCTIONS[reduce])


def meta_scatter_value_reduce(
    self: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str
) -> TensorSpec:
    _check_reduction(reduce)
    return _scatter_spec("scatter", self, dim, index, None)


def scatter_value_reduce_out(
    self: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str, out: Tensor
) -> None:
    _scatter_into(self, dim, index, element(value, self._dtype), out, _REDUCTIONS[reduce])


def meta_scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> TensorSpec:
    return _scatter_spec("scatter_add", self, dim, index, src)


def scatter_add_out(self: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor) -> None:
    _scatter_into(self, dim, index, src._array, out, np.add)


def _selected_spec(self: Tensor, dim: int, index: Tensor) -> TensorSpec:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _check_index("index_select", index)
    dim = wrap_dim(dim, self.ndim)
    shape = list(self._shape)
    if shape:
        shape[dim] = index.numel()
    elif index.numel() != 1:
        raise RuntimeError(
            "index_select(): Index to scalar can have only 1 value, got"
            f" {index.numel()} value(s)"
        )
    return ExactSpec(tuple(shape), self._dtype, None, self._device)


def _select_into(self: Tensor, dim: int, index: Tensor, out: Tensor) -> None:
    source = _vector(self._array)
    dim = wrap_dim(dim, self.ndim)
    positions = _positions(index, dim, source.shape[dim])
    # The places have been checked; where NumPy checks them it writes to a buffer first.
    np.take(source, positions, axis=dim, out=_vector(out._array), mode="clip")


def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of one dimension that `index` names, in that order."""
    spec = _selected_spec(self, dim, index)
    fresh = ops.new_empty(self, spec.shape)
    return finish(fresh, spec, lambda: _select_into(self, dim, index, fresh))


def index_select_out(self: Tensor, dim: int, index: Tensor, *, out: Tensor) -> Tensor:
    spec = _selected_spec(self, dim, index)
    return finish(out, spec, lambda: _select_into(self, dim, index, out))


def _rows_spec(
    name: str,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    error: type[Exception] = IndexError,
) -> TensorSpec:
    """`error` is the message for too many or too few indices."""
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index.ndim})")
    _check_index(name, index)
    if source._dtype is not self._dtype:
        raise RuntimeError(f"{name}(): self and source expected to have the same dtype")
    if source._shape and source._shape[wrap_dim(dim, source.ndim)] != index.numel():
        raise error(
            f"{name}(): Number of indices ({index.numel()}) should be equal to source.size(dim)"
            f" ({source._shape[dim]})"
        )
    if _without(self, dim) != _without(source, dim) or self.ndim != source.ndim:
        raise RuntimeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified"
            f" dimension. Got self.shape = {list(self._shape)} source.shape = {list(source._shape)}"
        )
    return ExactSpec(self._shape, self._dtype, None, self._device)


def _without(tensor: Tensor, dim: int) -> tuple[int, ...]:
    return tensor._shape[:dim] + tensor._shape[dim + 1 :]


def _rows(
    self: Tensor,
    dim: int,
    index: Tensor,
    out: Tensor,
    from_the_end: bool = False,
    error: type[Exception] = IndexError,
) -> tuple[Array, Array]:
    """The dimension of `out` in front, as a writable view, and the checked index."""
    if out is not self:
        store(out, self._array)
    dim = wrap_dim(dim, self.ndim)
    target = np.moveaxis(_vector(out._array), dim, 0)
    size = target.shape[0]
    return target, _positions(index, dim, size, error, -size if from_the_end else 0)


def meta_index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> TensorSpec:
    return _rows_spec("index_add", self, dim, index, source, RuntimeError)


def index_add_cpu_out(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor
) -> None:
    """Adds `alpha` times the rows of `source` to the rows that `index` names; repeated ones add up."""
    rows = np.moveaxis(_vector(source._array), wrap_dim(dim, source.ndim), 0)
    # ATen has two loops, each with its own error.
    error = RuntimeError if self.ndim > 1 else IndexError
    target, positions = _rows(self, dim, index, out, error=error)
    np.add.at(target, positions, rows * element(alpha, source._dtype))


def meta_index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> TensorSpec:
    if self._shape and source._shape and self.ndim != source.ndim:
        raise IndexError(
            "index_copy(): When source and destination are not scalars, their dimensionality must match."
            f" Source dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    return _rows_spec("index_copy", self, dim, index, source)


def index_copy_out(self: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor) -> None:
    rows = np.moveaxis(_vector(source._array), wrap_dim(dim, source.ndim), 0)
    target, positions = _rows(self, dim, index, out)
    target[positions] = rows


def index_fill(self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    return ops.index_fill__int_Scalar(ops.clone(self), dim, index, value)


def index_fill_(self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """One value in every slice that `index` names."""
    if getattr(value, "_shape", ()):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with"
            f" {len(value._shape)} dimension(s)."  # type: ignore[union-attr]
        )
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_fill_(): Index has to be a vector/scalar")
    _check_index("index_fill_", index)
    if isinstance(value, complex) and not self._dtype.is_complex:
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    if self._device is not meta:
        target, positions = _rows(self, dim, index, self, from_the_end=True)
        target[positions] = element(value, self._dtype)
    return self


def _take_spec(self: Tensor, index: Tensor) -> TensorSpec:
    if index._dtype is not int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {index._dtype.scalar_type}"
        )
    return ExactSpec(index._shape, self._dtype, None, self._device)


def _take_into(self: Tensor, index: Tensor, out: Tensor) -> None:
    flat, positions = self._array.reshape(-1), index._array
    if positions.size and not flat.size:
        raise IndexError("take(): tried to take from an empty tensor")
    wrong = (positions < -flat.size) | (positions >= flat.size)
    if wrong.any():
        raise IndexError(
            f"out of range: tried to access index {int(positions[wrong].flat[0])} on a tensor of"
            f" {flat.size} elements."
        )
    store(out, flat[positions])


def take(self: Tensor, index: Tensor) -> Tensor:
    """Elements by their place in the flattened tensor; negative ones count from the end."""
    spec = _take_spec(self, index)
    fresh = ops.new_empty(self, spec.shape)
    return finish(fresh, spec, lambda: _take_into(self, index, fresh))


def take_out(self: Tensor, index: Tensor, *, out: Tensor) -> Tensor:
    return finish(out, _take_spec(self, index), lambda: _take_into(self, index, out))


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """A row of `weight` for each index; the other arguments matter only for the derivative."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    rows: Sequence[int] = [*indices._shape, weight._shape[1]]
    if indices.ndim == 1:
        return ops.index_select(weight, 0, indices)
    return ops.view(ops.index_select(weight, 0, ops.reshape(indices, [-1])), rows)
