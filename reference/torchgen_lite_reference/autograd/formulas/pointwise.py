"""Formulas of element-wise operators."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.autograd.support import cast, conj

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchgen_lite_reference.device import device as Device
    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.tensor import Number, Tensor


def maybe_multiply(grad: Tensor, factor: Number) -> Tensor:
    """`grad` times the conjugate of `factor`, without a call where the factor is 1."""
    return grad if factor == 1 else grad * factor.conjugate()


def to_like(grad: Tensor, dtype: DType, device: Device) -> Tensor:
    """The gradient in the type that the tensor had before it was converted."""
    return cast(grad, dtype).to(device)


def scalar_like(value: Number, other: Tensor) -> Tensor:
    """A number as a tensor, for operators that do not take a number here."""
    return ops.full_like(other, value)


def tanh_backward(grad: Tensor, result: Tensor) -> Tensor:
    return grad * conj(1 - result * result)


def sigmoid_backward(grad: Tensor, result: Tensor) -> Tensor:
    return grad * conj((1 - result) * result)


def acosh_slope(self: Tensor) -> Tensor:
    """Two roots if the numbers are complex, as the branch of the function is that of their product."""
    if self._dtype.is_complex:
        return (self + 1).rsqrt() * (self - 1).rsqrt()
    return (self * self - 1).rsqrt()


def sgn_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """A complex sign can rotate, but its length is always 1. The derivative of a real sign is 0."""
    if not self._dtype.is_complex:
        return ops.zeros_like(grad)
    size = self.abs()
    along = ops.real(grad / result) * result
    return ops.masked_fill_Scalar((grad - along) / size, size == 0, 0)


def div_self_backward(grad: Tensor, other: Tensor | Number, rounding_mode: str | None) -> Tensor:
    """Rounded division is flat almost everywhere."""
    if rounding_mode is not None:
        return ops.zeros_like(grad)
    divisor = other.conjugate() if isinstance(other, (int, float, complex)) else conj(other)
    return grad / divisor


def div_other_backward(
    grad: Tensor, self: Tensor, other: Tensor, rounding_mode: str | None
) -> Tensor:
    if rounding_mode is not None:
        return ops.zeros_like(grad)
    return -grad * conj((self / other) / other)


def pow_backward(grad: Tensor, self: Tensor, exponent: Number) -> Tensor:
    if exponent == 0:
        return ops.zeros_like(grad)
    return grad * conj(exponent * self.pow(exponent - 1))


def pow_self_backward(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    found = grad * conj(exponent * self.pow(exponent - 1))
    return ops.where_ScalarSelf(exponent == 0, 0, found)


def _not_negative(exponent: Tensor) -> Tensor:
    """Whether an exponent is a real number from 0 up: 0 to its power is 0 or 1."""
    if exponent._dtype.is_complex:
        return ops.logical_and(ops.imag(exponent) == 0, ops.real(exponent) >= 0)
    return exponent >= 0


def pow_exponent_backward(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    """0 where the base is 0, as the logarithm is not finite there."""
    flat = ops.logical_and(self == 0, _not_negative(exponent))
    # The logarithm of a negative base is complex where the result is.
    base = self.to(result._dtype) if result._dtype.is_complex else self
    return grad * ops.where_ScalarSelf(flat, 0, conj(result * base.log()))


def pow_scalar_backward(grad: Tensor, self: Number, exponent: Tensor, result: Tensor) -> Tensor:
    if self == 0:
        slope = ops.where_ScalarSelf(_not_negative(exponent), 0, result * -math.inf)
        return grad * conj(slope)
    if isinstance(self, complex) or exponent._dtype.is_complex:
        return grad * conj(result * cmath.log(self))
    return grad * (result * (math.log(self) if self > 0 else math.nan))


def extremum_backward(grad: Tensor, lost: Tensor, tied: Tensor) -> Tensor:
    """0 where the other one was chosen, and half of the gradient where both are equal."""
    return ops.where_ScalarSelf(lost, 0, ops.where_self(tied, grad / 2, grad))


def fmax_mask(self: Tensor, other: Tensor) -> Tensor:
    return ops.logical_or(self >= other, ops.isnan(other))


def fmin_mask(self: Tensor, other: Tensor) -> Tensor:
    return ops.logical_or(self <= other, ops.isnan(other))


def atan2_factor(numerator: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """0 at the origin, as in torch."""
    norm = self * self + other * other
    return numerator * ops.masked_fill_Scalar(norm.reciprocal(), norm == 0, 0)


def copysign_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    ratio = result / self
    return grad * ops.masked_fill_Scalar(ratio, self == 0, 0)


def clamp_backward(
    grad: Tensor, self: Tensor, min: Tensor | Number | None, max: Tensor | Number | None
) -> Tensor:
    inside: Tensor | None = None
    if min is not None:
        inside = self >= min
    if max is not None:
        below = self <= max
        inside = below if inside is None else ops.logical_and(inside, below)
    return grad if inside is None else ops.where_ScalarOther(inside, grad, 0)


def clamp_bounds_backward(
    grad: Tensor,
    self: Tensor,
    min: Tensor | None,
    max: Tensor | None,
    grad_input_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    """Where the result is a bound; the upper one wins where they cross."""
    grad_min: Tensor | None = None
    grad_max: Tensor | None = None
    if min is not None and grad_input_mask[0]:
        taken = self < min
        if max is not None:
            taken = ops.logical_and(taken, min < max)
        grad_min = ops.where_ScalarOther(taken, grad, 0)
    if max is not None and grad_input_mask[1]:
        taken = self > max
        if min is not None:
            taken = ops.logical_or(taken, max < min)
        grad_max = ops.where_ScalarOther(taken, grad, 0)
    return grad_min, grad_max


def between(self: Tensor, low: Number, high: Number) -> Tensor:
    """Strictly inside."""
    return ops.logical_and(self > low, self < high)


def outside(self: Tensor, low: Number, high: Number) -> Tensor:
    """On a bound or beyond it; not so for a NaN."""
    return ops.logical_or(self <= low, self >= high)


def within(self: Tensor, low: Number, high: Number) -> Tensor:
    """Inside, bounds included."""
    return ops.logical_and(self >= low, self <= high)


def threshold_backward(grad: Tensor, self: Tensor, threshold: Number) -> Tensor:
    return ops.where_ScalarSelf(self <= threshold, 0, grad)


def elu_backward(
    grad: Tensor, alpha: Number, scale: Number, input_scale: Number, self: Tensor
) -> Tensor:
    # Elsewhere the exponential may be infinite, and its derivative would be too.
    negative = ops.where_ScalarOther(self < 0, self, 0)
    below = grad * (negative * input_scale).exp() * (input_scale * alpha * scale)
    return ops.where_self(self <= 0, below, grad * scale)


def gelu_backward(grad: Tensor, self: Tensor, approximate: str) -> Tensor:
    if approximate == "tanh":
        beta, kappa = math.sqrt(2 / math.pi), 0.044715
        inner = ((self + kappa * self.pow(3)) * beta).tanh()
        slope = (1 - inner * inner) * (beta * (1 + 3 * kappa * self.pow(2)))
        return grad * (0.5 * (1 + inner) + 0.5 * self * slope)
    cdf = 0.5 * (1 + (self * math.sqrt(0.5)).erf())
    pdf = (-0.5 * self * self).exp() * (1 / math.sqrt(2 * math.pi))
    return grad * (cdf + self * pdf)


def silu_backward(grad: Tensor, self: Tensor) -> Tensor:
    sigmoid = self.sigmoid()
    # PyTorch's `silu_` takes complex numbers and leaves out the conjugate (docs/differences.md).
    return grad * conj(sigmoid * (1 + self * (1 - sigmoid)))


def mish_backward(grad: Tensor, self: Tensor) -> Tensor:
    inner = ops.softplus(self).tanh()
    return grad * (inner + self * self.sigmoid() * (1 - inner * inner))


def softplus_backward(grad: Tensor, self: Tensor, beta: Number, threshold: Number) -> Tensor:
    scaled = self * beta
    return ops.where_self(scaled > threshold, grad, grad * scaled.sigmoid())


def hardswish_backward(grad: Tensor, self: Tensor) -> Tensor:
    inside = ops.where_self(between(self, -3.0, 3.0), grad * (self / 3 + 0.5), grad)
    return ops.where_ScalarSelf(self <= -3, 0, inside)


def log_sigmoid_backward(grad: Tensor, self: Tensor) -> Tensor:
    return grad * (-self).sigmoid()


def glu_backward(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    half = self.shape[dim] // 2
    first, second = self.split(half, dim)
    gate = second.sigmoid()
    return ops.cat([grad * gate, grad * first * gate * (1 - gate)], dim)
