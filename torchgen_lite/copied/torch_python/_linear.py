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
from ._transposed import Pair, pulled

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
    zeros = [value for value in inputs if wants_gradient(value)]
    points = [value + _elsewhere(tangent) for value, tangent in zip(zeros, tangents)]
    moved = iter(points)
    others = gradients_at([next(moved) if wants_gradient(value) else value for value in inputs])
    doubts: list[Any] = []
    for gradient, _ in pairs:
        is_number = gradient == gradient
        doubts.append(((gradient != 0) & is_number).any())
    if all(gradient.requires_grad for gradient, _ in others):
        again = pulled(others, zeros, False)
        doubts += map(_differ, tangents, again)
        doubts.append(_is_other(others, [*zip(points, tangents)]))
    return _if_linear(operator, torch.stack(doubts).any(), tangents)


def _elsewhere(tangent: torch.Tensor) -> torch.Tensor:
    """A point that is neither zero nor the same everywhere."""
    steps = torch.arange(tangent.numel(), device=tangent.device).reshape(tangent.shape)
    return tangent.detach() + steps.cos().to(tangent.dtype)


def _exact(value: torch.Tensor) -> torch.Tensor:
    """The value in a dtype in which sums are not cut off."""
    return value.detach().to(torch.promote_types(value.dtype, torch.float32))


def _tolerance(value: torch.Tensor) -> float:
    eps: float = torch.finfo(value.dtype).eps
    return math.pow(eps, 0.4)


def _differ(value: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Whether two derivatives differ by more than rounding does; what is not a number does not count."""
    sizes = _exact(value).abs(), _exact(other).abs()
    scale = sizes[0] + sizes[1] + sizes[0].mean()
    difference = (_exact(value) - _exact(other)).abs()
    return (difference > _tolerance(value) * scale).any()


def _multiplied(pairs: Sequence[Pair]) -> tuple[Any, Any]:
    """The sum of products, and that of their sizes."""
    products = [_exact(value).conj() * _exact(other) for value, other in pairs]
    return sum(torch.real(p).sum() for p in products), sum(p.abs().sum() for p in products)


def _is_other(pairs: Sequence[Pair], expected: Sequence[Pair]) -> Any:
    """Whether gradients times tangents are not what is expected."""
    total, size = _multiplied(pairs)
    other, other_size = _multiplied(expected)
    rounding = max(_tolerance(gradient) for gradient, _ in pairs)
    return abs(total - other) > rounding * (size + other_size)


def _if_linear(operator: str, is_doubted: Any, tangents: Any) -> Sequence[torch.Tensor]:
    """The tangents, or a refusal if they are not right."""
    value = is_doubted
    while _C._functorch.is_functorch_wrapped_tensor(value):
        value = _C._functorch.get_unwrapped(value)
    if type(value) is not torch.Tensor or value.is_meta:
        return [tangent.masked_fill(is_doubted, torch.nan) for tangent in tangents]
    if value.any():
        refused(operator, "its formulas are not linear in the gradient")()
    return cast("Sequence[torch.Tensor]", tangents)
