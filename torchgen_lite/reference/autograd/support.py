"""What the engine does to gradients: bringing them to shape, adding them, keeping them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite.reference.autograd.mode import grad_enabled
from torchgen_lite_ops import operators

if TYPE_CHECKING:
    from torchgen_lite.reference.autograd.node import Node, Output
    from torchgen_lite.reference.tensor import Tensor


def zeros(output: Output) -> Tensor:
    """Zeros of an output's shape, type and device."""
    return operators.zeros(output.shape, dtype=output.dtype, device=output.device)


def sum_to(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """Sum a gradient over the dimensions that broadcasting added or enlarged."""
    have = gradient._shape
    shape = tuple(shape)
    if have == shape:
        return gradient
    extra = len(have) - len(shape)
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
        gradient = operators._to_copy(gradient, dtype=output.dtype)
    return gradient


def _broadcasts(small: Sequence[int], large: Sequence[int]) -> bool:
    if len(small) > len(large):
        return False
    return all(s in (1, n) for s, n in zip(reversed(small), reversed(large)))


def add(present: Tensor, gradient: Tensor) -> Tensor:
    return operators.add_Tensor(present, gradient)


def accumulate(variable: Tensor, gradient: Tensor) -> None:
    """Add to `.grad`: in place, unless the sum itself is recorded (torch `accumulateGrad`)."""
    from torchgen_lite.reference.autograd.node import meta_of

    meta = meta_of(variable)
    if meta.grad is None:
        # What arrives may be shared with another gradient, or be an expanded view.
        meta.grad = operators.clone(gradient)
    elif grad_enabled():
        meta.grad = operators.add_Tensor(meta.grad, gradient)
    else:
        operators.add__Tensor(meta.grad, gradient)


def implicit_gradient(root: Tensor, gradient: Tensor | None) -> Tensor:
    """What a backward starts with: the gradient given, or 1 for a tensor of one element."""
    if gradient is None:
        if root.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return operators.ones_like(root)
    if gradient._shape != root._shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape"
            f" of {root.shape}."
        )
    return gradient
