"""Losses made of other operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import COMPLEX, FLOATING
from torchgen_lite_reference.geometry import numel
from torchgen_lite_reference.kernels.loss import MEAN, NONE, SUM

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    if reduction == MEAN:
        return ops.mean(loss)
    return ops.sum(loss) if reduction == SUM else loss


def l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    return _reduced(ops.abs(ops.sub_Tensor(self, target)), reduction)


def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Tensor:
    """The cross entropy of `sigmoid(self)`, without computing it: (1 - y) x - log(sigmoid(x))."""
    if self._shape != target._shape:
        raise ValueError(
            f"Target size ({list(target._shape)}) must be the same as input size ({list(self._shape)})"
        )
    log_sigmoid = ops.log_sigmoid(self)
    if pos_weight is not None:
        surplus = ops.sub_Scalar(pos_weight, 1)
        factor = ops.add_Scalar(ops.mul_Tensor(surplus, target), 1)
        log_sigmoid = ops.mul_Tensor(log_sigmoid, factor)
    rest = ops.rsub_Scalar(target, 1)
    loss = ops.sub_Tensor(ops.mul_Tensor(rest, self), log_sigmoid)
    if weight is not None:
        loss = ops.mul_Tensor(loss, weight)
    return _reduced(loss, reduction)


def kl_div(
    self: Tensor, target: Tensor, reduction: int = MEAN, *, log_target: bool = False
) -> Tensor:
    """target * (log(target) - self), where `self` is a logarithm; 0 log 0 counts as 0."""
    for operand in (self, target):
        if operand._dtype.category != FLOATING:
            kind = "Complex" if operand._dtype.category == COMPLEX else "Integral"
            raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    if log_target:
        gap = ops.sub_Tensor(target, self)
        return _reduced(ops.mul_Tensor(ops.exp(target), gap), reduction)
    entropy = ops.mul_Tensor(target, ops.log(target))
    entropy = ops.where_ScalarSelf(ops.eq_Scalar(target, 0), 0, entropy)
    return _reduced(ops.sub_Tensor(entropy, ops.mul_Tensor(target, self)), reduction)


def hinge_embedding_loss(
    self: Tensor, target: Tensor, margin: float = 1.0, reduction: int = MEAN
) -> Tensor:
    """The value where the target is 1, and max(0, margin - value) where it is -1."""
    nothing = ops.zeros_like(self)
    short = ops.clamp_min(ops.sub_Tensor(ops.full_like(self, margin), self), 0)
    unlike = ops.where_self(ops.ne_Scalar(target, 1), short, nothing)
    like = ops.where_self(ops.ne_Scalar(target, -1), self, nothing)
    return _reduced(ops.add_Tensor(unlike, like), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = MEAN
) -> Tensor:
    """max(0, margin - target * (input1 - input2))"""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes:"
            f" input1: {list(input1._shape)}, input2: {list(input2._shape)}, target:"
            f" {list(target._shape)} "
        )
    ranked = ops.mul_Tensor(ops.neg(target), ops.sub_Tensor(input1, input2))
    # The margin is a float, so that integers have a loss in the default type.
    return _reduced(ops.clamp_min(ops.add_Scalar(ranked, float(margin)), 0), reduction)


def nll_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Tensor:
    return ops.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


def _nll_loss_nd(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    """`nll_loss` with further dimensions after the classes: each position is one more row."""
    if self.ndim <= 2:
        return ops.nll_loss(self, target, weight, reduction, ignore_index)
    rows = ops.reshape(ops.movedim_int(self, 1, -1), [-1, self._shape[1]])
    loss = ops.nll_loss(rows, ops.reshape(target, [-1]), weight, reduction, ignore_index)
    return ops.reshape(loss, target._shape) if reduction == NONE else loss


def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`. A target with the shape of the input holds probabilities."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 0 if self.ndim == 1 else 1
    scores = ops.log_softmax_int(self, dim)
    if self._shape == target._shape:
        return _soft_target_loss(scores, target, weight, reduction, label_smoothing)
    loss = _nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss
    smooth = _smooth_loss(scores, target, weight, reduction, ignore_index)
    share = label_smoothing / self._shape[dim]
    return ops.add_Tensor(ops.mul_Scalar(loss, 1 - label_smoothing), ops.mul_Scalar(smooth, share))


def _weighted(scores: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return scores
    shape = [weight.numel()] + [1] * (scores.ndim - 2)
    return ops.mul_Tensor(scores, ops.view(weight, shape))


def _soft_target_loss(
    scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    if not target._dtype.is_floating_point:
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got"
            f" {target._dtype.scalar_type}"
        )
    dim = 0 if scores.ndim == 1 else 1
    classes = scores._shape[dim]
    if label_smoothing:
        target = ops.mul_Scalar(target, 1 - label_smoothing)
        target = ops.add_Scalar(target, label_smoothing / classes)
    products = _weighted(ops.mul_Tensor(scores, target), weight)
    if reduction == NONE:
        return ops.neg(ops.sum_dim_IntList(products, [dim]))
    total = ops.neg(ops.sum(products))
    if reduction == SUM:
        return total
    return ops.div_Scalar(total, max(numel(scores._shape), 1) / classes)


def _smooth_loss(
    scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    """The contribution of label smoothing: the loss against a uniform distribution."""
    dim = 0 if scores.ndim == 1 else 1
    loss = ops.neg(ops.sum_dim_IntList(_weighted(scores, weight), [dim]))
    ignored = ops.eq_Scalar(target, ignore_index)
    loss = ops.masked_fill_Scalar(loss, ignored, 0)
    if reduction == NONE:
        return loss
    total = ops.sum(loss)
    if reduction == SUM:
        return total
    if weight is None:
        counted = ops.to_dtype(ops.logical_not(ignored), scores._dtype)
    else:
        safe = ops.flatten_using_ints(ops.masked_fill_Scalar(target, ignored, 0))
        counted = ops.gather(weight, 0, safe)
        counted = ops.masked_fill_Scalar(counted, ops.flatten_using_ints(ignored), 0)
    return ops.div_Tensor(total, ops.sum(counted))
