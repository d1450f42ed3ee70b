"""Whether formulas are linear in the gradient, which forward mode takes for granted.

Note [Formulas are tried]
What an operator of the author's or a helper does with a gradient is not known. If a formula calls one, each call in
forward mode tries it: it gives zeros for zeros, it has the same derivative at another point, and it gives there what the
derivative says. If it does not, the call is refused; where values can't be read, since they are traced, the tangents are
nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch

from ._refusals import refused, wants_gradient
from ._transposed import Pair, chosen, pulled, replaced

# Parts of torch have no annotations.
_C: Any = torch._C


def tried(
    operator: str,
    gradients_at: Callable[[Sequence[Any]], list[Pair]],
    inputs: Sequence[Any],
    pairs: Sequence[Pair],
    tangents: Sequence[torch.Tensor],
) -> Sequence[torch.Tensor]:
    """The tangents, if the formulas are linear: `inputs` are the zeros that they are differentiated by, and `pairs` what
    the formulas give for those."""
    are_wanted = list(map(wants_gradient, inputs))
    zeros = chosen(inputs, are_wanted)
    points = []
    for zero, tangent in zip(zeros, tangents):
        points.append(zero + _elsewhere(tangent))
    doubts = [_is_not_zero(gradient) for gradient, _ in pairs]
    pairs_at_points = gradients_at(replaced(inputs, are_wanted, points))
    if all(gradient.requires_grad for gradient, _ in pairs_at_points):
        tangents_at_points = pulled(pairs_at_points, zeros, False)
        doubts += map(_differ, tangents, tangents_at_points)
        expected = [*zip(points, tangents)]
        doubts.append(_is_other(pairs_at_points, expected))
    is_doubted = torch.stack(doubts).any()
    return _if_linear(operator, is_doubted, tangents)


def _is_not_zero(gradient: torch.Tensor) -> Any:
    """Whether it has another number than zero; nan is none."""
    is_number = gradient == gradient
    is_other = (gradient != 0) & is_number
    return is_other.any()


def _elsewhere(tangent: torch.Tensor) -> torch.Tensor:
    """A point that is neither zero nor the same everywhere."""
    numbers = torch.arange(tangent.numel(), device=tangent.device)
    steps = numbers.reshape(tangent.shape).cos()
    return tangent.detach() + steps.to(tangent.dtype)


def _exact(value: torch.Tensor) -> torch.Tensor:
    """The value in a dtype in which sums are not cut off."""
    dtype = torch.promote_types(value.dtype, torch.float32)
    return value.detach().to(dtype)


def _tolerance(value: torch.Tensor) -> float:
    eps: float = torch.finfo(value.dtype).eps
    return math.pow(eps, 0.4)


def _differ(value: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Whether two derivatives differ by more than rounding does; what is not a number does not count."""
    exact = _exact(value)
    other_exact = _exact(other)
    size = exact.abs()
    scale = size + other_exact.abs() + size.mean()
    difference = (exact - other_exact).abs()
    is_more = difference > _tolerance(value) * scale
    return is_more.any()


def _multiplied(pairs: Sequence[Pair]) -> tuple[Any, Any]:
    """The sum of products, and that of their sizes."""
    products = []
    for value, other in pairs:
        products.append(_exact(value).conj() * _exact(other))
    total = sum(torch.real(product).sum() for product in products)
    size = sum(product.abs().sum() for product in products)
    return total, size


def _is_other(pairs: Sequence[Pair], expected: Sequence[Pair]) -> Any:
    """Whether gradients times tangents are not what is expected."""
    total, size = _multiplied(pairs)
    other, other_size = _multiplied(expected)
    rounding = max(_tolerance(gradient) for gradient, _ in pairs)
    difference = abs(total - other)
    return difference > rounding * (size + other_size)


def _if_linear(operator: str, is_doubted: Any, tangents: Any) -> Sequence[torch.Tensor]:
    """The tangents, or a refusal if they are not right."""
    value = is_doubted
    while _C._functorch.is_functorch_wrapped_tensor(value):
        value = _C._functorch.get_unwrapped(value)
    is_traced = type(value) is not torch.Tensor or value.is_meta
    if is_traced:
        return [tangent.masked_fill(is_doubted, torch.nan) for tangent in tangents]
    if value.any():
        refused(operator, "its formulas are not linear in the gradient")()
    return cast("Sequence[torch.Tensor]", tangents)
