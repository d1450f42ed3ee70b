"""Formulas of losses and normalizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.geometry import broadcast_shapes, numel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchgen_lite_reference.tensor import Tensor

MEAN, SUM = 1, 2


def _scaled(grad: Tensor, count: int, reduction: int) -> Tensor:
    """The gradient of each element's loss."""
    if reduction == MEAN:
        return grad / count
    return grad


def _count(self: Tensor, target: Tensor) -> int:
    return numel(broadcast_shapes(self._shape, target._shape))


def mse_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return _scaled(grad, _count(self, target), reduction) * (2 * (self - target))


def smooth_l1_loss_backward(
    grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Tensor:
    difference = self - target
    scaled = _scaled(grad, _count(self, target), reduction)
    if beta == 0:
        return scaled * difference.sign()
    inside = difference.abs() < beta
    return scaled * ops.where_self(inside, difference / beta, difference.sign())


def huber_loss_backward(
    grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Tensor:
    difference = self - target
    inside = difference.abs() <= delta
    slope = ops.where_self(inside, difference, difference.sign() * delta)
    return _scaled(grad, _count(self, target), reduction) * slope


def binary_cross_entropy_backward(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    below = ops.clamp_min((1 - self) * self, 1e-12)
    found = grad * (self - target) / below
    if weight is not None:
        found = found * weight
    return _scaled(found, self.numel(), reduction)


def binary_cross_entropy_target_backward(
    grad: Tensor, self: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    found = grad * ((1 - self).log() - self.log())
    if weight is not None:
        found = found * weight
    return _scaled(found, self.numel(), reduction)


def bce_with_logits_backward(
    grad: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    if pos_weight is None:
        found = (self.sigmoid() - target) * grad
    else:
        positive = pos_weight * target
        found = ((positive + 1 - target) * self.sigmoid() - positive) * grad
    if weight is not None:
        found = found * weight
    return _scaled(found, self.numel(), reduction)


def bce_with_logits_target_backward(
    grad: Tensor,
    self: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    if pos_weight is None:
        found = grad * -self
    else:
        found = grad * (ops.log_sigmoid(-self) - pos_weight * ops.log_sigmoid(self))
    if weight is not None:
        found = found * weight
    return _scaled(found, self.numel(), reduction)


def nll_loss_backward(
    grad: Tensor,
    shape: Sequence[int],
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """Minus the weight of its class, at each target that isn't ignored."""
    dim = 1 if len(shape) > 1 else 0
    kept = target != ignore_index
    classes = ops.where_ScalarOther(kept, target, 0)
    factor = kept.to(grad._dtype)
    if weight is not None:
        factor = factor * ops.index_select(weight, 0, classes.reshape(-1)).reshape(classes._shape)
    if reduction == MEAN:
        factor = factor / total_weight
    found = -(factor * grad)
    zeros = ops.zeros(shape, dtype=grad._dtype, device=grad._device)
    return ops.scatter_add(zeros, dim, classes.unsqueeze(dim), found.unsqueeze(dim))


def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    rstd: Tensor,
    weight: Tensor | None,
    grad_input_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    inner = len(normalized_shape)
    dims = list(range(input.ndim - inner, input.ndim))
    outer = list(range(input.ndim - inner))
    mean, rstd = _statistics(input, dims, rstd)
    normal = (input - mean) * rstd
    grad_input: Tensor | None = None
    if grad_input_mask[0]:
        upstream = grad if weight is None else grad * weight
        grad_input = _normalized_backward(upstream, normal, rstd, dims)
    grad_weight = ops.sum_dim_IntList(grad * normal, outer) if outer else grad * normal
    grad_bias = ops.sum_dim_IntList(grad, outer) if outer else grad
    return (
        grad_input,
        grad_weight if grad_input_mask[1] else None,
        grad_bias if grad_input_mask[2] else None,
    )


def _statistics(input: Tensor, dims: Sequence[int], rstd: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and reciprocal deviation, recomputed if they have to be differentiated.

    The results of the forward call are constants in the graph. `rstd` is 1 / sqrt(var + eps); the
    recorded one has the same value, with eps read back from it.
    """
    mean = ops.mean_dim(input, dims, True)
    variance = ops.mean_dim((input - mean) * (input - mean), dims, True)
    constant = rstd.detach().reshape(variance._shape).pow(-2) - variance.detach()
    return mean, (variance + constant).rsqrt()


def _normalized_backward(
    upstream: Tensor, normal: Tensor, rstd: Tensor, dims: Sequence[int]
) -> Tensor:
    average = ops.mean_dim(upstream, dims, True)
    along = ops.mean_dim(upstream * normal, dims, True)
    return (upstream - average - normal * along) * rstd


def group_norm_backward(
    grads: Sequence[Tensor],
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    sizes: Sequence[int],
    group: int,
    grad_input_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """`sizes` are those of the batch, the channels, and the elements of each."""
    batch, channels, size = sizes
    flat = [batch, channels, size]
    values = input.reshape([batch, group, channels // group * size])
    mean, rstd = _statistics(values, [2], rstd)
    normal = (values - mean) * rstd
    given = grads[0].reshape(flat)
    grad_input: Tensor | None = None
    if grad_input_mask[0]:
        upstream = given if weight is None else given * weight.reshape([1, channels, 1])
        found = _normalized_backward(upstream.reshape(values._shape), normal, rstd, [2])
        # The gradients through the mean and the deviation, which are results too.
        count = channels // group * size
        of_mean = grads[1].unsqueeze(-1) / count
        of_rstd = grads[2].unsqueeze(-1) * (rstd * rstd) * normal / count
        grad_input = (found + of_mean - of_rstd).reshape(input._shape)
    grad_weight: Tensor | None = None
    if grad_input_mask[1]:
        grad_weight = ops.sum_dim_IntList(given * normal.reshape(flat), [0, 2])
    grad_bias = ops.sum_dim_IntList(given, [0, 2]) if grad_input_mask[2] else None
    return grad_input, grad_weight, grad_bias
