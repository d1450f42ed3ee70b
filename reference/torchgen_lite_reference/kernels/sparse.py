"""COO tensors: making them, taking them apart and copying them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.device import as_device, device, layout, meta, sparse_coo
from torchgen_lite_reference.dtype import dtype, get_default_dtype, int64
from torchgen_lite_reference.geometry import numel
from torchgen_lite_reference.sparse_tensor import (
    SparseTensor,
    add_at,
    as_sparse,
    empty_sparse,
    flat_positions,
)
from torchgen_lite_reference.sparse_tensor import coalesce as coalesced
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.tensor import Tensor, wrap_array

DType = dtype
Layout = layout
Device = device


# Making them.


def sparse_coo_tensor(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    return empty_sparse(tuple(size), dtype or get_default_dtype(), as_device(device))


def sparse_coo_tensor_indices(
    indices: Tensor,
    values: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    pin_memory: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """The smallest size that holds every index."""
    sizes: tuple[int, ...] = (0,) * indices._shape[0]
    if indices._shape[1]:
        sizes = tuple((indices._array.max(axis=1) + 1).tolist())
    return sparse_coo_tensor_indices_size(
        indices, values, sizes + values._shape[1:], dtype=dtype, is_coalesced=is_coalesced
    )


def sparse_coo_tensor_indices_size(
    indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    pin_memory: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    shape = tuple(size)
    if indices.ndim != 2 or indices._dtype.category != int64.category:
        raise RuntimeError(
            f"indices must be an integer matrix of shape [sparse_dim, nnz], got {indices._dtype!r}"
            f" {list(indices._shape)}"
        )
    sparse_dim, nnz = indices._shape
    if values._shape != (nnz, *shape[sparse_dim:]) or sparse_dim > len(shape):
        raise RuntimeError(
            f"values has incorrect size, expected {[nnz, *shape[sparse_dim:]]},"
            f" got {list(values._shape)}"
        )
    if nnz and indices._device is not meta:
        _check_bounds(indices._array, shape)
    wanted = dtype or values._dtype
    return operators._sparse_coo_tensor_with_dims_and_tensors(
        sparse_dim,
        len(shape) - sparse_dim,
        shape,
        indices.to(int64),
        values.to(wanted),
        dtype=wanted,
        layout=sparse_coo,
        is_coalesced=is_coalesced,
    )


def new_with_dims_and_tensor_sparse(
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    indices: Tensor,
    values: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    pin_memory: bool | None = False,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor from its parts, which are not copied; only the dtype is checked."""
    wanted = dtype or get_default_dtype()
    if values._dtype is not wanted:
        raise RuntimeError(
            f"dtype of values ({values._dtype.scalar_type}) must match dtype of sparse tensor"
            f" ({wanted.scalar_type})"
        )
    indices, values = indices._shallow_copy(), values._shallow_copy()
    return SparseTensor(indices, values, tuple(size), bool(is_coalesced))


def _check_bounds(indices: Array, shape: tuple[int, ...]) -> None:
    for dim, row in enumerate(indices):
        low, high = int(row.min()), int(row.max())
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= shape[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found"
                f" index {high}"
            )


def to_sparse(
    self: Tensor,
    *,
    layout: Layout | None = None,
    blocksize: Sequence[int] | None = None,
    dense_dim: int | None = None,
) -> Tensor:
    return operators._to_sparse(self, layout=layout, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_sparse_dim(self: Tensor, sparse_dim: int) -> Tensor:
    return operators._to_sparse_sparse_dim(self, sparse_dim)


def dense_to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Layout | None = None,
    blocksize: Sequence[int] | None = None,
    dense_dim: int | None = None,
) -> Tensor:
    """The elements (or slices along the dense dimensions) that are not zero."""
    count = self.ndim - (dense_dim or 0) if sparse_dim is None else sparse_dim
    if not 0 <= count <= self.ndim or (sparse_dim == 0 and self.ndim):
        raise RuntimeError(f"sparse_dim {count} is out of range for a {self.ndim}-D tensor")
    array = self._array
    dense_axes = tuple(range(count, array.ndim))
    present = np.any(array != 0, axis=dense_axes)
    if not count:
        present = present.reshape(1)
        indices = np.zeros((0, int(present[0])), np.int64)
        values = array.reshape(1, *array.shape)[present]
    else:
        places = np.nonzero(present)
        indices = np.array(places, np.int64).reshape(count, -1)
        values = array[places]
    return SparseTensor(wrap_array(indices), wrap_array(values.copy()), self._shape, True)


def sparse_coo_to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Layout | None = None,
    blocksize: Sequence[int] | None = None,
    dense_dim: int | None = None,
) -> Tensor:
    if sparse_dim is not None and sparse_dim != sparse_dim_sparse(self):
        raise RuntimeError("to_sparse: changing the number of sparse dimensions")
    return self


# Taking them apart.


def to_dense(
    self: Tensor, dtype: DType | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    if not self.is_sparse:
        return self if dtype is None else self.to(dtype)
    return operators._to_dense(self, dtype, masked_grad)


def sparse_to_dense(
    self: Tensor, dtype: DType | None = None, masked_grad: bool | None = None
) -> Tensor:
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    this = as_sparse(self, "to_dense")
    result = np.zeros(this._shape, this._dtype.numpy)
    add_at(result, this, this._coo_values._array)
    return wrap_array(result, this._device)


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of `self` at the positions of `mask`, 0 where a sparse `self` has none."""
    places = as_sparse(mask, "sparse_mask")
    if self._shape != places._shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._shape)} but mask"
            f" has size {list(places._shape)}"
        )
    wanted = flat_positions(places)
    rows = numel(places._shape[: places._coo_indices._shape[0]])
    if isinstance(self, SparseTensor):
        source = coalesced(self)
        have, old = flat_positions(source), source._coo_values._array
        values = np.zeros(places._coo_values._shape, self._dtype.numpy)
        place = np.searchsorted(have, wanted)
        found = np.isin(wanted, have)
        values[found] = old[place[found]]
    else:
        values = self._array.reshape(rows, *places._coo_values._shape[1:])[wanted]
    indices = places._coo_indices._shallow_copy()
    return SparseTensor(indices, wrap_array(values), places._shape, places._coo_coalesced)


def coalesce(self: Tensor) -> Tensor:
    """Sorted, unique positions; a coalesced tensor is returned itself."""
    if as_sparse(self, "coalesce")._coo_coalesced:
        return self
    return operators._coalesce(self)


def _coalesce_sparse_cpu(self: Tensor) -> Tensor:
    return coalesced(as_sparse(self, "coalesce"))


def is_coalesced_sparse(self: Tensor) -> bool:
    return as_sparse(self, "is_coalesced")._coo_coalesced


def is_coalesced_default(self: Tensor) -> bool:
    return as_sparse(self, "is_coalesced")._coo_coalesced


def sparse_dim_sparse(self: Tensor) -> int:
    return as_sparse(self, "sparse_dim")._coo_indices._shape[0]


def sparse_dim_default(self: Tensor) -> int:
    return 0


def dense_dim_sparse(self: Tensor) -> int:
    return self.ndim - as_sparse(self, "dense_dim")._coo_indices._shape[0]


def dense_dim_default(self: Tensor) -> int:
    return self.ndim


def _nnz_sparse(self: Tensor) -> int:
    return as_sparse(self, "_nnz")._coo_indices._shape[1]


def _indices_sparse(self: Tensor) -> Tensor:
    return operators.alias(as_sparse(self, "indices")._coo_indices)


def _values_sparse(self: Tensor) -> Tensor:
    return operators.alias(as_sparse(self, "values")._coo_values)


def indices_sparse(self: Tensor) -> Tensor:
    _check_coalesced(self, "indices")
    return _indices_sparse(self)


def values_sparse(self: Tensor) -> Tensor:
    _check_coalesced(self, "values")
    return _values_sparse(self)


def indices_default(self: Tensor) -> Tensor:
    return _indices_sparse(as_sparse(self, "indices"))


def values_default(self: Tensor) -> Tensor:
    return _values_sparse(as_sparse(self, "values"))


def _check_coalesced(self: Tensor, name: str) -> None:
    if not as_sparse(self, name)._coo_coalesced:
        raise RuntimeError(
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
        )


# Copies.


def clone_sparse(self: Tensor, *, memory_format: object = None) -> Tensor:
    this = as_sparse(self, "clone")
    return SparseTensor(
        operators.clone(this._coo_indices),
        operators.clone(this._coo_values),
        this._shape,
        this._coo_coalesced,
    )


def copy_sparse_wrapper_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if not isinstance(self, SparseTensor) or not isinstance(src, SparseTensor):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self layout ="
            f" {self.layout!r} and src layout = {src.layout!r}"
        )
    fresh = SparseTensor(
        operators.clone(src._coo_indices),
        operators._to_copy(src._coo_values, dtype=self._dtype),
        src._shape,
        src._coo_coalesced,
    )
    self._adopt(fresh)
    return self


def zero_sparse_(self: Tensor) -> Tensor:
    """No elements are left."""
    this = as_sparse(self, "zero_")
    this._adopt(empty_sparse(this._shape, this._dtype, this._device, dense_dim_sparse(this)))
    return self
