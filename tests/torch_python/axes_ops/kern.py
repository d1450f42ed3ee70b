"""Kernels that count their calls, so that tests see how many one call of a transform makes."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor

CALLS: Counter[str] = Counter()


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    CALLS["rms_norm"] += 1
    rstd = torch.rsqrt(x.square().mean(-1) + eps)
    return (x * rstd.unsqueeze(-1) * weight).contiguous(), rstd.contiguous()


def rms_norm_backward(
    grad: Tensor, x: Tensor, weight: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor]:
    CALLS["rms_norm_backward"] += 1
    scale = rstd.unsqueeze(-1)
    normed, scaled = x * scale, grad * weight
    row = (scaled * normed).mean(-1, keepdim=True)
    x_grad = (scaled - normed * row) * scale
    return x_grad.contiguous(), (grad * normed).reshape(-1, x.shape[-1]).sum(0)


def mm(a: Tensor, b: Tensor) -> Tensor:
    CALLS["mm"] += 1
    return a @ b


def linear(x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    CALLS["linear"] += 1
    return torch.nn.functional.linear(x, w, bias)


def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    CALLS["muladd"] += 1
    return a * b + s


def weighted_sum(xs: list[Tensor], weight: Tensor | None) -> Tensor:
    CALLS["weighted_sum"] += 1
    total = xs[0]
    for one in xs[1:]:
        total = total + one
    return total * (1 if weight is None else weight)


def axpy(y: Tensor, x: Tensor, s: float) -> None:
    CALLS["axpy"] += 1
    y.add_(x, alpha=s)


def scale_(self: Tensor, s: float) -> Tensor:
    CALLS["scale_"] += 1
    return self.mul_(s)


def scaled(xs: list[Tensor], s: float) -> list[Tensor]:
    CALLS["scaled"] += 1
    return [(x * s).to(x.dtype) for x in xs]


def outer(x: Tensor, y: Tensor) -> Tensor:
    CALLS["outer"] += 1
    return (x.reshape(*x.shape, *(1 for _ in y.shape)) * y).contiguous()


def peaks(x: Tensor) -> tuple[Tensor, Tensor]:
    CALLS["peaks"] += 1
    return x.amax(0), x.argmax(0)


def turned(x: Tensor) -> Tensor:
    CALLS["turned"] += 1
    return x.movedim(-1, 0).clone(memory_format=torch.contiguous_format)


def update(state: Tensor, x: Tensor) -> Tensor:
    CALLS["update"] += 1
    state.add_(x)
    return state * 2


def noted(x: Tensor, sum: Tensor, last: Tensor | None) -> Tensor:
    CALLS["noted"] += 1
    note(x, last, sum=sum)
    return x.t().clone(memory_format=torch.contiguous_format)


def note(x: Tensor, last: Tensor | None, *, sum: Tensor) -> None:
    sum.add_(x.sum(0))
    if last is not None:
        last.copy_(x[-1])
