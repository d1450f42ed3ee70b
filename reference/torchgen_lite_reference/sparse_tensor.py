"""COO tensors: indices and values instead of strided memory.

    SparseTensor(indices, values, shape, coalesced)
        indices: int64 [sparse_dim, nnz]; values: [nnz, *dense part of shape]; both strided tensors
    x._coo_indices, x._coo_values, x._coo_coalesced    attributes that SparseCPU kernels read
    x._adopt(other)                                    become another sparse tensor (in place)
    empty_sparse(shape, dtype, on, dense_dim=0)        no elements
    coalesce(x) -> SparseTensor                        sorted by position, duplicates summed
    flat_positions(x) -> array                         the row-major position of every element
    as_sparse(x, name) -> SparseTensor                 x itself, or the error of operator `name`
    add_at(array, x, values)                           add values at the positions of x

A coalesced tensor has each position once, in order. There is no storage, so `_array` raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_reference.device import contiguous_format, sparse_coo, sparse_keyset
from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.device import layout as Layout
from torchgen_lite_reference.device import memory_format as MemoryFormat
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.dtype import int64
from torchgen_lite_reference.geometry import Shape, contiguous_strides, numel
from torchgen_lite_reference.storage import Array, Storage
from torchgen_lite_reference.tensor import Tensor, empty_strided, wrap_array


class SparseTensor(Tensor):
    """A tensor in coordinate format; its keyset holds SparseCPU where a strided one has CPU."""

    __slots__ = ("_coo_coalesced", "_coo_indices", "_coo_values")
    is_sparse = True

    _coo_indices: Tensor
    _coo_values: Tensor
    _coo_coalesced: bool

    def __init__(
        self, indices: Tensor, values: Tensor, shape: Shape, coalesced: bool = False
    ) -> None:
        on = values._device
        strides = contiguous_strides(shape)
        super().__init__(Storage(None, on), shape, strides, 0, values._dtype, on, sparse_keyset(on))
        self._coo_indices = indices
        self._coo_values = values
        self._coo_coalesced = coalesced or indices._shape[1] < 2

    def _shallow_copy(self) -> Tensor:
        copy = SparseTensor(
            self._coo_indices, self._coo_values, self._shape, coalesced=self._coo_coalesced
        )
        copy._storage = self._storage
        copy._dispatch_keyset = self._dispatch_keyset
        return copy

    @property
    def _array(self) -> Array:
        raise RuntimeError(
            "a sparse tensor has no strided data; use to_dense(), indices() or values()"
        )

    @property
    def layout(self) -> Layout:
        return sparse_coo

    def stride(self, dim: int | None = None) -> object:
        raise RuntimeError("Sparse tensors do not have strides")

    def storage_offset(self) -> int:
        raise RuntimeError("Sparse tensors do not have storage offsets")

    def is_contiguous(self, memory_format: MemoryFormat = contiguous_format) -> bool:
        raise RuntimeError("Sparse tensors do not have is_contiguous")

    def data_ptr(self) -> int:
        raise RuntimeError("Sparse tensors do not have storage")

    def tolist(self) -> object:
        raise RuntimeError("tolist() does not support sparse tensors; use to_dense().tolist()")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._coo_indices, self._coo_values, self._shape, self._coo_coalesced)
        return (_rebuild_sparse, (*parts, self._requires_grad))

    def _adopt(self, other: SparseTensor) -> None:
        """Take the contents of another sparse tensor."""
        self._shape = other._shape
        self._strides = other._strides
        self._coo_indices = other._coo_indices
        self._coo_values = other._coo_values
        self._coo_coalesced = other._coo_coalesced


def _rebuild_sparse(
    indices: Tensor, values: Tensor, shape: Shape, coalesced: bool, requires_grad: bool
) -> SparseTensor:
    result = SparseTensor(indices, values, shape, coalesced)
    result._requires_grad = requires_grad
    return result


def empty_sparse(shape: Shape, dtype: DType, on: Device, dense_dim: int = 0) -> SparseTensor:
    """A sparse tensor of zeros."""
    sparse_dim = len(shape) - dense_dim
    indices = empty_strided((sparse_dim, 0), None, int64, on)
    values = empty_strided((0, *shape[sparse_dim:]), None, dtype, on)
    return SparseTensor(indices, values, shape, coalesced=True)


def flat_positions(self: SparseTensor) -> Array:
    """The row-major position of each element within the sparse dimensions."""
    indices = self._coo_indices._array
    sizes = self._shape[: indices.shape[0]]
    if not sizes:
        return np.zeros(indices.shape[1], np.int64)
    steps = np.array(contiguous_strides(sizes), np.int64)
    return np.asarray(steps @ indices)


def coalesce(self: SparseTensor) -> SparseTensor:
    """The same tensor with sorted, unique positions; itself if it is so already."""
    if self._coo_coalesced:
        return self
    flat, first, inverse = np.unique(flat_positions(self), return_index=True, return_inverse=True)
    old = self._coo_values._array
    summed = np.zeros((len(flat), *old.shape[1:]), old.dtype)
    np.add.at(summed, inverse.reshape(-1), old)
    indices = np.ascontiguousarray(self._coo_indices._array[:, first])
    return SparseTensor(wrap_array(indices), wrap_array(summed), self._shape, coalesced=True)


def as_sparse(self: Tensor, name: str) -> SparseTensor:
    """The tensor, which must be sparse for the operator `name`."""
    if not isinstance(self, SparseTensor):
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got Strided")
    return self


def add_at(target: Array, places: SparseTensor, values: Array) -> None:
    """target[positions] += values, where a position may occur more than once."""
    sparse_dim = places._coo_indices._shape[0]
    rows = numel(places._shape[:sparse_dim])
    flat = target.reshape(rows, *places._shape[sparse_dim:])
    np.add.at(flat, flat_positions(places), values)
    if not np.shares_memory(flat, target):
        target[...] = flat.reshape(target.shape)
