"""Products composed of the structured ones: they broadcast, fold and transpose, but do not multiply themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.geometry import broadcast_shapes, numel, wrap_dim
from torchgen_lite_reference.kernels.outputs import write_out
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def mv(self: Tensor, vec: Tensor) -> Tensor:
    rows = self._shape[:1] if self.ndim == 2 else ()
    fresh = ops.new_empty(vec, rows)
    return ops.mv_out(self, vec, out=fresh)


def mv_out(self: Tensor, vec: Tensor, *, out: Tensor) -> Tensor:
    """`addmv` that ignores its addend. (The addend must still have a shape that fits.)"""
    addend = ops.new_empty(vec, [1])
    return ops.addmv_out(addend, self, vec, beta=0, alpha=1, out=out)


def dot_out(self: Tensor, tensor: Tensor, *, out: Tensor) -> Tensor:
    return write_out(out, ops.dot(self, tensor), ExactSpec)


def matmul(self: Tensor, other: Tensor) -> Tensor:
    """Vectors, matrices and batches of matrices, with the batch dimensions broadcast."""
    left, right = len(self._shape), len(other._shape)
    if left == 2 and right == 2:
        return ops.mm(self, other)
    if not left or not right:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
        )
    if left == 1 and right == 1:
        return ops.dot(self, other)
    if left == 2 and right == 1:
        return ops.mv(self, other)
    if left == 1 and right == 2:
        return ops.squeeze_dim(ops.mm(ops.unsqueeze(self, 0), other), 0)
    if left >= 3 and right <= 2:
        return _folded(self, other)
    return _batched(self, other)


def _folded(self: Tensor, other: Tensor) -> Tensor:
    """A batch times one matrix is a taller matrix times it."""
    rows = self._shape[:-1]
    flat = ops.reshape(self, [numel(rows), self._shape[-1]])
    if other.ndim == 1:
        return ops._unsafe_view(ops.mv(flat, other), rows)
    return ops._unsafe_view(ops.mm(flat, other), [*rows, other._shape[-1]])


def _batched(self: Tensor, other: Tensor) -> Tensor:
    first = ops.unsqueeze(self, 0) if self.ndim == 1 else self
    second = ops.unsqueeze(other, -1) if other.ndim == 1 else other
    batch = broadcast_shapes(first._shape[:-2], second._shape[:-2])
    (n, k), (m, p) = first._shape[-2:], second._shape[-2:]
    count = numel(batch)
    left = ops.reshape(ops.expand(first, [*batch, n, k]), [count, n, k])
    right = ops.reshape(ops.expand(second, [*batch, m, p]), [count, m, p])
    shape = [*batch]
    if self.ndim > 1:
        shape.append(n)
    if other.ndim > 1:
        shape.append(p)
    return ops._unsafe_view(ops.bmm(left, right), shape)


def matmul_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return write_out(out, matmul(self, other), ExactSpec)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.t() + bias`, for any number of leading dimensions."""
    if bias is not None and input.ndim == 2:
        return ops.addmm(bias, input, ops.t(weight))
    product = ops.matmul(input, ops.t(weight))
    return product if bias is None else ops.add__Tensor(product, bias)


def linear_out(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor) -> Tensor:
    return write_out(out, linear(input, weight, bias), ExactSpec)


def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """Every product of two vectors, as a matrix."""
    for name, vector in (("self", self), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return ops.mul_Tensor(ops.reshape(self, [self._shape[0], 1]), vec2)


def outer_out(self: Tensor, vec2: Tensor, *, out: Tensor) -> Tensor:
    return write_out(out, outer(self, vec2))


def ger(self: Tensor, vec2: Tensor) -> Tensor:
    return ops.outer(self, vec2)


def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sums over the last dimension of both; with a scalar it is a product."""
    if not self._shape or not other._shape:
        return ops.mul_Tensor(self, other)
    if self._shape[-1] != other._shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes"
            f" {list(self._shape)} and {list(other._shape)}"
        )
    return ops.tensordot(self, other, [-1], [-1])


def inner_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    kind = ExactSpec if self._shape and other._shape else TensorSpec
    return write_out(out, inner(self, other), kind)


def tensordot(
    self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Tensor:
    """Sums over pairs of dimensions; the remaining dimensions of `self` come first."""
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    mine = [wrap_dim(dim, self.ndim) for dim in dims_self]
    theirs = [wrap_dim(dim, other.ndim) for dim in dims_other]
    for first, second in zip(mine, theirs):
        if self._shape[first] == 1:
            other = ops.sum_dim_IntList(other, [second], True, dtype=other._dtype)
        elif other._shape[second] == 1:
            self = ops.sum_dim_IntList(self, [first], True, dtype=self._dtype)
        elif self._shape[first] != other._shape[second]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {self._shape[first]} in dim"
                f" {first} and second has size {other._shape[second]} in dim {second}"
            )
    rows = [dim for dim in range(self.ndim) if dim not in mine]
    columns = [dim for dim in range(other.ndim) if dim not in theirs]
    shape = [self._shape[dim] for dim in rows] + [other._shape[dim] for dim in columns]
    inner_count = numel([self._shape[dim] for dim in mine])
    row_count = numel([self._shape[dim] for dim in rows])
    column_count = numel([other._shape[dim] for dim in columns])
    left = ops.reshape(ops.permute(self, rows + mine), [row_count, inner_count])
    right = ops.reshape(ops.permute(other, theirs + columns), [inner_count, column_count])
    return ops.reshape(ops.mm(left, right), shape)


def tensordot_out(
    self: Tensor,
    other: Tensor,
    dims_self: Sequence[int],
    dims_other: Sequence[int],
    *,
    out: Tensor,
) -> Tensor:
    return write_out(out, tensordot(self, other, dims_self, dims_other), ExactSpec)


def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: a copy of `other` for each element of `self`, scaled by it."""
    ndim = max(self.ndim, other.ndim)
    mine = [1] * (ndim - self.ndim) + list(self._shape)
    theirs = [1] * (ndim - other.ndim) + list(other._shape)
    left = ops.reshape(self, [size for outer_size in mine for size in (outer_size, 1)])
    right = ops.reshape(other, [size for inner_size in theirs for size in (1, inner_size)])
    shape = [first * second for first, second in zip(mine, theirs)]
    return ops.reshape(ops.mul_Tensor(left, right), shape)


def kron_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return write_out(out, kron(self, other))


def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, from the left."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    result = matrices[0]
    for matrix in matrices[1:]:
        result = ops.mm(result, matrix)
    return result
