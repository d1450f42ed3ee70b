"""Formulas of sparse tensors: a gradient is kept where the tensor has elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import sparse_coo

if TYPE_CHECKING:
    from torchgen_lite_reference.device import layout as Layout
    from torchgen_lite_reference.tensor import Tensor


def to_dense_backward(grad: Tensor, self: Tensor, masked_grad: bool | None) -> Tensor:
    """At the elements that are there; everywhere if `masked_grad` is False."""
    if not self.is_sparse:
        return grad
    if masked_grad is False:
        return ops.to_sparse_sparse_dim(grad, ops.sparse_dim(self))
    return ops.sparse_mask(grad, ops.coalesce(self))


def sparse_mask_backward(grad: Tensor, mask: Tensor, layout: Layout) -> Tensor:
    return grad if layout is sparse_coo else ops.to_dense(grad)


def values_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of the values at the places that the tensor has."""
    places = ops._indices(self)
    return ops.sparse_coo_tensor_indices_size(places, grad, self._shape, is_coalesced=True)
