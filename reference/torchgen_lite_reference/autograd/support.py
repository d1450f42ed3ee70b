"""What the engine does with gradients: adjusting their shape, adding them, accumulating them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.mode import grad_enabled
from torchgen_lite_reference.autograd.node import Node, Output, meta_of
from torchgen_lite_reference.device import contiguous_format, cpu
from torchgen_lite_reference.geometry import is_dense

if TYPE_CHECKING:
    from torchgen_lite_reference.dtype import dtype
    from torchgen_lite_reference.tensor import Tensor


def conj(tensor: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return operators._conj_physical(tensor) if tensor._dtype.is_complex else tensor


def cast(gradient: Tensor, dtype: dtype) -> Tensor:
    """A gradient in the type of its tensor. The gradient of a real tensor is real."""
    if gradient._dtype.is_complex and not dtype.is_complex:
        gradient = operators.real(gradient)
    return gradient if gradient._dtype is dtype else operators._to_copy(gradient, dtype=dtype)


def sum_to(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """Sum a gradient over the dimensions that broadcasting added or expanded."""
    have = gradient._shape
    shape = tuple(shape)
    if have == shape:
        return gradient
    extra = len(have) - len(shape)
    if extra and have[extra:] == shape:
        return operators.sum_dim_IntList(gradient, [*range(extra)])
    dims = [*range(extra)]
    dims += [i for i in range(extra, len(have)) if shape[i - extra] == 1 and have[i] != 1]
    summed = operators.sum_dim_IntList(gradient, dims, True) if dims else gradient
    return summed if summed._shape == shape else operators.view(summed, shape)


def fit(gradient: Tensor, output: Output, maker: Node | None) -> Tensor:
    """A gradient in the shape and type of the output it is for (torch `validate_outputs`)."""
    shape = output.shape
    if gradient._shape != shape:
        if not _broadcasts(shape, gradient._shape):
            who = f"Function {maker.name()}" if maker is not None else "Mismatch in shape: the root"
            raise RuntimeError(
                f"{who} returned an invalid gradient - got {list(gradient._shape)} but expected shape"
                f" compatible with {list(shape)}"
            )
        gradient = sum_to(gradient, shape)
    if gradient._dtype is not output.dtype:
        gradient = cast(gradient, output.dtype)
    return gradient


def _broadcasts(small: Sequence[int], large: Sequence[int]) -> bool:
    if len(small) > len(large):
        return False
    return all(s in (1, n) for s, n in zip(reversed(small), reversed(large)))


def add(present: Tensor, gradient: Tensor) -> Tensor:
    return operators.add_Tensor(present, gradient)


def accumulate(variable: Tensor, gradient: Tensor) -> None:
    """Add to `.grad`: in place, unless the sum itself is recorded (torch `accumulateGrad`)."""
    meta = meta_of(variable)
    if meta.grad is None:
        # The gradient may be shared with another one, or be an expanded view.
        meta.grad = _laid_out(gradient, variable)
    elif grad_enabled():
        meta.grad = operators.add_Tensor(meta.grad, gradient)
    else:
        operators.add__Tensor(meta.grad, gradient)


def _laid_out(gradient: Tensor, variable: Tensor) -> Tensor:
    """A copy in the order of the variable's memory, row-major if that has gaps (torch's layout contract)."""
    strides = variable._strides
    if gradient.is_sparse or (gradient._strides == strides and is_dense(variable._shape, strides)):
        return operators.clone(gradient)
    if not is_dense(variable._shape, strides):
        return operators.clone(gradient, memory_format=contiguous_format)
    fresh = operators.new_empty_strided(gradient, variable._shape, strides)
    return operators.copy_(fresh, gradient)


def implicit_gradient(root: Tensor, gradient: Tensor | None) -> Tensor:
    """What a backward starts with: the gradient given, or 1 for a tensor of one element."""
    if gradient is None:
        if root.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if root._dtype.is_complex:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {root._dtype!r}"
            )
        if root._device is cpu and not root.is_sparse:
            # What `ones_like` gives, which goes through four operators.
            return root._beside(np.ones(root._shape, root._dtype.numpy))
        return operators.ones_like(root)
    if gradient._shape != root._shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape"
            f" of {root.shape}."
        )
    if gradient._dtype.is_complex is not root._dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch"
            f" in dtype: grad_output[0] has a dtype of {gradient._dtype!r} and output[0] has a dtype of"
            f" {root._dtype!r}."
        )
    return gradient
