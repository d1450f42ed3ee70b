"""The kernels in Python."""

from __future__ import annotations

import os

import torch
from torch import Tensor


def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return a * b + s


def row_norm(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    rstd = torch.rsqrt(x.square().mean(-1) + eps)
    out = x * rstd.unsqueeze(-1) * weight
    # The line of axes promises contiguous results, whatever the strides of x.
    return out.contiguous(), rstd.contiguous()


def mm(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def scale(self: Tensor, s: float) -> Tensor:
    return self * s


def scale_(self: Tensor, s: float) -> Tensor:
    return self.mul_(s)


def scale_out(self: Tensor, s: float, *, out: Tensor) -> Tensor:
    return torch.mul(self, s, out=out)


def axpy(y: Tensor, x: Tensor, s: float) -> None:
    y.add_(x, alpha=s)


def weighted_sum(xs: list[Tensor], weight: Tensor | None) -> Tensor:
    total = xs[0] * 1
    for one in xs[1:]:
        total = total + one
    return total if weight is None else total * weight


def weighted_sum_backward(grad: Tensor, xs: list[Tensor], weight: Tensor | None) -> list[Tensor]:
    one = grad if weight is None else grad * weight
    return [one * 1 for _ in xs]


def blend(x: Tensor, masks: list[Tensor | None], s: float) -> Tensor:
    total = x * 1
    for mask in masks:
        if mask is not None:
            total = total + x * mask * s
    return total


def blend_backward(grad: Tensor, masks: list[Tensor | None], s: float) -> list[Tensor]:
    return [grad * s for _ in masks]


def rows(x: Tensor) -> Tensor:
    return x[x.any(1)]


def drawn(p: Tensor, *, generator: torch.Generator | None) -> Tensor:
    return torch.bernoulli(p, generator=generator)


def log(x: Tensor, text: str) -> None:
    os.write(1, text.encode())


def affine(x: Tensor, bias: Tensor | None, s: float, *, negate: bool) -> Tensor:
    scaled = x * -s if negate else x * s
    return scaled if bias is None else scaled + bias


def gate(x: Tensor, *, gate: Tensor) -> Tensor:
    return x * gate


def halves(x: Tensor, n: int, dim: int) -> list[Tensor]:
    return [part.clone() for part in x.chunk(n, dim)]


def cube(x: Tensor) -> Tensor:
    return x * x * x


def collect(x: Tensor, *, s: float, total: Tensor) -> None:
    total.add_(x, alpha=s)


def tally(x: Tensor, seen: Tensor | None) -> Tensor:
    if seen is not None:
        seen.add_(x.detach())
    return x * 2


def shift(self: Tensor, other: Tensor, *, alpha: float) -> Tensor:
    return torch.add(self, other, alpha=alpha)


def plus(self: Tensor, other: float) -> Tensor:
    return self + other
