"""Arithmetic of COO tensors: sums, products, quotients, matrix products and reductions.

`add(sparse, sparse)` of coalesced tensors is coalesced (a sorted union); otherwise the elements are
put one after the other, which is the same sum. Explicit zeros stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.dtype import dtype
from torchgen_lite_reference.geometry import Shape, broadcast_shapes, contiguous_strides, wrap_dims
from torchgen_lite_reference.kernels.binary import check_alpha, check_sub
from torchgen_lite_reference.promotion import accumulate_type, check_cast, float_type, result_type
from torchgen_lite_reference.sparse_tensor import (
    SparseTensor,
    add_at,
    as_sparse,
    flat_positions,
)
from torchgen_lite_reference.sparse_tensor import coalesce as coalesced
from torchgen_lite_reference.tensor import Number, Tensor, wrap_array

DType = dtype


def _like(self: SparseTensor, values: Tensor) -> SparseTensor:
    """The same positions with other values."""
    return SparseTensor(self._coo_indices, values, self._shape, self._coo_coalesced)


# Sums.


def _combine(self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """self + alpha * other, for (sparse, sparse) and (dense, sparse)."""
    common = result_type(self, other)
    check_alpha(common, alpha)
    if not isinstance(self, SparseTensor):
        return _add_to_dense(self, as_sparse(other, "add"), alpha, common)
    if not isinstance(other, SparseTensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if self._shape != other._shape:
        raise RuntimeError(
            "add: expected sizes of 'self' and 'other' to match, but"
            f" {list(self._shape)} != {list(other._shape)}"
        )
    first = self._coo_values.to(common)
    second = _scaled(other._coo_values.to(common), alpha)
    indices = np.concatenate([self._coo_indices._array, other._coo_indices._array], axis=1)
    values = np.concatenate([first._array, second._array])
    joined = SparseTensor(wrap_array(indices), wrap_array(values), self._shape)
    both = self._coo_coalesced and other._coo_coalesced
    return coalesced(joined) if both else joined


def _scaled(values: Tensor, alpha: Number) -> Tensor:
    return values if alpha == 1 else operators.mul_Scalar(values, alpha)


def _add_to_dense(self: Tensor, other: SparseTensor, alpha: Number, common: dtype) -> Tensor:
    if broadcast_shapes(self._shape, other._shape) != self._shape:
        raise RuntimeError(
            f"add: Expected 'self' to have a size at least as large as 'other', but"
            f" {list(self._shape)} vs {list(other._shape)}"
        )
    if self._shape != other._shape:
        dense = _scaled(operators._to_dense(other), alpha)
        return operators.add_Tensor(self, dense)
    result = np.array(self._array, common.numpy, order="C")
    add_at(result, other, _scaled(other._coo_values.to(common), alpha)._array)
    return wrap_array(result, self._device)


def write(out: Tensor, result: Tensor) -> Tensor:
    """Put a result into an in-place or out argument of the same layout."""
    check_cast(result._dtype, out._dtype)
    if isinstance(out, SparseTensor) and isinstance(result, SparseTensor):
        values = result._coo_values.to(out._dtype)
        out._adopt(SparseTensor(result._coo_indices, values, result._shape, result._coo_coalesced))
        return out
    if out.is_sparse or result.is_sparse:
        raise RuntimeError(
            f"expected an output of layout {result.layout!r}, but got {out.layout!r}"
        )
    if out._shape != result._shape:
        out._set_geometry(result._shape)
    return operators.copy_(out, result)


def add_sparse(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    return _combine(self, other, alpha)


def add_sparse_(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    return write(self, _combine(self, other, alpha))


def add_out_sparse_cpu(self: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor) -> Tensor:
    return write(out, _combine(self, other, alpha))


def sub_sparse(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    check_sub(self, other)
    return _combine(self, other, -alpha)


def sub_sparse_(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    return write(self, sub_sparse(self, other, alpha=alpha))


def sub_out_sparse(self: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor) -> Tensor:
    return write(out, sub_sparse(self, other, alpha=alpha))


# Products and quotients.


def mul_sparse(self: Tensor, other: Tensor) -> Tensor:
    """Sparse with sparse, with dense (broadcast to its shape) or with a zero-dimensional tensor."""
    if not isinstance(self, SparseTensor):
        self, other = other, self
    this = as_sparse(self, "mul")
    if isinstance(other, SparseTensor):
        return _mul_sparse_sparse(this, other)
    if not other._shape:
        return _like(this, operators.mul_Tensor(this._coo_values, other))
    if broadcast_shapes(this._shape, other._shape) != this._shape:
        raise RuntimeError(
            f"mul: a dense factor of shape {list(other._shape)} doesn't broadcast to the sparse"
            f" shape {list(this._shape)}"
        )
    common = result_type(self, other)
    picked = np.broadcast_to(other._array, this._shape)[tuple(this._coo_indices._array)]
    factor = wrap_array(np.array(picked).reshape(this._coo_values._shape))
    return _like(this, operators.mul_Tensor(this._coo_values.to(common), factor.to(common)))


def _mul_sparse_sparse(a: SparseTensor, b: SparseTensor) -> Tensor:
    if a._shape != b._shape or a._coo_indices._shape[0] != b._coo_indices._shape[0]:
        raise RuntimeError(
            f"mul: expected sparse tensors of the same shape, but got {list(a._shape)} and"
            f" {list(b._shape)}"
        )
    a, b = coalesced(a), coalesced(b)
    _, mine, theirs = np.intersect1d(
        flat_positions(a), flat_positions(b), assume_unique=True, return_indices=True
    )
    values = operators.mul_Tensor(
        wrap_array(a._coo_values._array[mine]), wrap_array(b._coo_values._array[theirs])
    )
    indices = wrap_array(np.ascontiguousarray(a._coo_indices._array[:, mine]))
    return SparseTensor(indices, values, a._shape, coalesced=True)


def mul_sparse_(self: Tensor, other: Tensor) -> Tensor:
    return write(self, mul_sparse(self, other))


def mul_out_sparse_cpu(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return write(out, mul_sparse(self, other))


def div_sparse(self: Tensor, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
    """Only by a zero-dimensional dense tensor: anything else would divide zero by zero."""
    this = as_sparse(self, "div")
    if other.is_sparse or other._shape:
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor")
    if rounding_mode is None:
        wanted = float_type(result_type(this, other))
        return _like(this, operators.div_Tensor(this._coo_values.to(wanted), other))
    return _like(
        this, operators.div_Tensor_mode(this._coo_values, other, rounding_mode=rounding_mode)
    )


def div_sparse_(self: Tensor, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
    return write(self, div_sparse(self, other, rounding_mode=rounding_mode))


def pow_sparse_scalar(self: Tensor, exponent: Number) -> Tensor:
    if exponent == 0:
        raise RuntimeError("pow: the exponent 0 would make a sparse tensor dense")
    this = coalesced(as_sparse(self, "pow"))
    return _like(this, operators.pow_Tensor_Scalar(this._coo_values, exponent))


def _sparse_mm(self: Tensor, mat2: Tensor) -> Tensor:
    """Matrix product with a sparse factor; sparse with sparse gives sparse."""
    both = self.is_sparse and mat2.is_sparse
    left = operators._to_dense(self) if self.is_sparse else self
    right = operators._to_dense(mat2) if mat2.is_sparse else mat2
    result = operators.mm(left, right)
    return operators._to_sparse(result) if both else result


# Reductions.


def sum_coo(self: Tensor, *, dtype: DType | None = None) -> Tensor:
    """The sum of all elements, dense."""
    return operators.sum(as_sparse(self, "sum")._coo_values, dtype=dtype)


def sum_sparse_coo(
    self: Tensor,
    dim: Sequence[int] | None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The sum over some dimensions, sparse unless it is over all the sparse ones."""
    this = as_sparse(self, "sum")
    dims = wrap_dims(dim, this.ndim)
    sparse_dim = this._coo_indices._shape[0]
    values = this._coo_values
    inner = [d - sparse_dim + 1 for d in dims if d >= sparse_dim]
    values = operators.sum_dim_IntList(values, inner, keepdim, dtype=dtype) if inner else values
    values = values.to(dtype or accumulate_type(values._dtype))
    shape: Shape = tuple(
        1 if d in dims else size for d, size in enumerate(this._shape) if keepdim or d not in dims
    )
    kept = [d for d in range(sparse_dim) if d not in dims]
    if not kept:
        total = operators.sum_dim_IntList(values, [0], False)
        return total._as_strided(shape, contiguous_strides(shape), 0)
    rows = this._coo_indices._array
    if keepdim:
        indices = rows.copy()
        indices[[d for d in dims if d < sparse_dim]] = 0
    else:
        indices = rows[kept].copy()
    summed = SparseTensor(wrap_array(indices), values, shape)
    return coalesced(summed)


def any_sparse(self: Tensor) -> Tensor:
    return operators.any(as_sparse(self, "any")._coo_values)
