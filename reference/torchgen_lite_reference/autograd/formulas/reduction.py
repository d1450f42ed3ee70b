"""Formulas of reductions, scans, softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.autograd.support import cast, conj

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchgen_lite_reference.tensor import Number, Tensor

    Shape = Sequence[int]
    Dims = Sequence[int] | None


def _dims(dim: Dims, ndim: int) -> list[int]:
    """The dimensions that a reduction goes over, from 0; none given means all."""
    if not dim:
        return list(range(ndim))
    return [d % ndim for d in dim] if ndim else []


def restore(value: Tensor, ndim: int, dim: Dims, keepdim: bool) -> Tensor:
    """A reduced tensor with the reduced dimensions restored, of size 1."""
    if keepdim or not ndim:
        return value
    for place in sorted(_dims(dim, ndim)):
        value = value.unsqueeze(place)
    return value


def sum_backward(grad: Tensor, shape: Shape, dim: Dims, keepdim: bool) -> Tensor:
    return restore(grad, len(shape), dim, keepdim).expand(shape)


def _count(shape: Shape, dim: Dims) -> int:
    return math.prod(shape[d] for d in _dims(dim, len(shape)))


def mean_backward(grad: Tensor, shape: Shape, dim: Dims, keepdim: bool) -> Tensor:
    return sum_backward(grad, shape, dim, keepdim) / _count(shape, dim)


def _products_of_others(self: Tensor, dim: int) -> Tensor:
    """For each element, the product of the others along a dimension, which may include zeros."""
    size = self._shape[dim]
    if size < 2:
        return ops.ones_like(self)
    one = ops.ones_like(self.narrow(dim, 0, 1))
    before = ops.cat([one, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    flipped = self.flip([dim])
    after = ops.cat([one, flipped.narrow(dim, 0, size - 1)], dim).cumprod(dim).flip([dim])
    return before * after


def _has_zeros(self: Tensor) -> bool:
    return self.is_meta or bool(ops.any(self == 0))


def prod_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if not self.ndim:
        return grad
    self = cast(self, grad._dtype)
    if not _has_zeros(self):
        return grad * conj(result / self)
    others = _products_of_others(self.reshape(-1), 0)
    return (grad * conj(others)).reshape(self._shape)


def prod_dim_backward(
    grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool
) -> Tensor:
    if not self.ndim:
        return grad
    self = cast(self, grad._dtype)
    grad, result = (restore(value, self.ndim, [dim], keepdim) for value in (grad, result))
    if not _has_zeros(self):
        return grad * conj(result / self)
    return grad * conj(_products_of_others(self, dim % self.ndim))


def extremes_backward(
    grad: Tensor, self: Tensor, result: Tensor, dim: Dims, keepdim: bool
) -> Tensor:
    """The gradient, shared evenly by all elements that are extreme."""
    mask = (self == restore(result, self.ndim, dim, keepdim)).to(grad._dtype)
    return _shared(restore(grad, self.ndim, dim, keepdim), mask, _dims(dim, self.ndim))


def whole_extreme_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The same over all elements; a NaN is the extreme of anything."""
    chosen = ops.logical_or(self == result, ops.logical_and(ops.isnan(self), ops.isnan(result)))
    return _shared(grad, chosen.to(grad._dtype), list(range(self.ndim)))


def _shared(grad: Tensor, mask: Tensor, dims: Sequence[int]) -> Tensor:
    count = ops.sum_dim_IntList(mask, dims, True) if dims else mask
    return grad * mask / count


def var_backward(
    grad: Tensor, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
) -> Tensor:
    count = _count(self._shape, dim) - (1 if correction is None else float(correction))  # type: ignore[arg-type]
    dims = _dims(dim, self.ndim)
    centered = self - ops.mean_dim(self, dims, True) if dims else self - self
    factor = 2 / count if count > 0 else math.nan if count == 0 else 2 / count
    return restore(grad, self.ndim, dim, keepdim) * (centered * factor)


def std_backward(
    result: Tensor, grad: Tensor, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
) -> Tensor:
    """0 where the deviation is 0, as in torch."""
    half = ops.masked_fill_Scalar(grad / (result * 2), result == 0, 0)
    return var_backward(half, self, dim, correction, keepdim)


def norm_backward(
    grad: Tensor, self: Tensor, p: Number | None, result: Tensor, dim: Dims, keepdim: bool
) -> Tensor:
    order = 2.0 if p is None else float(p)  # type: ignore[arg-type]
    grad = restore(grad, self.ndim, dim, keepdim)
    norm = restore(result, self.ndim, dim, keepdim)
    if order == 0:
        return ops.zeros_like(self)
    if order == 1:
        return self.sgn() * grad
    if order == 2:
        return grad * ops.masked_fill_Scalar(self / norm, norm == 0, 0)
    if math.isinf(order):
        mask = (self.abs() == norm).to(grad._dtype)
        dims = _dims(dim, self.ndim)
        count = ops.sum_dim_IntList(mask, dims, True) if dims else mask
        return self.sgn() * (grad / count * mask)
    size = self.abs()
    if order < 1:
        power = ops.masked_fill_Scalar(size.pow(order - 1), self == 0, 0)
        return self.sgn() * power * grad * norm.pow(1 - order)
    if order < 2:
        ratio = grad / norm.pow(order - 1)
        return self.sgn() * size.pow(order - 1) * ops.masked_fill_Scalar(ratio, norm == 0, 0)
    ratio = grad / norm.pow(order - 1)
    return self * size.pow(order - 2) * ops.masked_fill_Scalar(ratio, norm == 0, 0)


def logsumexp_backward(
    grad: Tensor, self: Tensor, result: Tensor, dim: Dims, keepdim: bool
) -> Tensor:
    grad = restore(grad, self.ndim, dim, keepdim)
    return grad * conj((self - restore(result, self.ndim, dim, keepdim)).exp())


def cumsum_backward(grad: Tensor, dim: int) -> Tensor:
    if not grad.ndim:
        return grad
    return grad.flip([dim]).cumsum(dim).flip([dim])


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """The sum over the later products of each divided by this element; without dividing, for zeros."""
    if not self.ndim or self._shape[dim] == 0:
        return grad
    size = self._shape[dim]
    self, result = conj(self), conj(result)
    parts: list[Tensor] = []
    for place in range(size):
        # Products from `place` on without this element, times the product of those before it.
        rest = self.narrow(dim, place + 1, size - place - 1)
        one = ops.ones_like(self.narrow(dim, 0, 1))
        after = ops.cat([one, rest], dim).cumprod(dim)
        before = result.narrow(dim, place - 1, 1) if place else one
        weighted = grad.narrow(dim, place, size - place) * after * before
        parts.append(ops.sum_dim_IntList(weighted, [dim], True))
    return ops.cat(parts, dim)


def trace_backward(grad: Tensor, shape: Shape) -> Tensor:
    return grad * ops.eye_m(shape[0], shape[1], dtype=grad._dtype, device=grad._device)


def softmax_backward(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    weighted = grad * result
    if not result.ndim:
        return weighted - result * weighted
    return weighted - result * ops.sum_dim_IntList(weighted, [dim], True)


def log_softmax_backward(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    if not result.ndim:
        return grad - result.exp() * grad
    return grad - result.exp() * ops.sum_dim_IntList(grad, [dim], True)
