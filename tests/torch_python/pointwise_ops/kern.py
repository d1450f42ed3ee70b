"""Pointwise operators made of functions of PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor


def times(a: Tensor, s: complex | None) -> Tensor:
    return a.clone() if s is None else a * s


def add(a: Tensor, b: Tensor | None) -> Tensor:
    return a.clone() if b is None else a + b


def add_times(a: Tensor, b: Tensor, s: complex) -> Tensor:
    return (a + b) * s


def times_add(a: Tensor, b: Tensor, s: complex) -> Tensor:
    return a * s + b


def less(a: Tensor, b: Tensor) -> Tensor:
    return a < b


def sigmoid(a: Tensor) -> Tensor:
    return a.sigmoid()


def where(c: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(c, a, b)


def addcmul(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return torch.addcmul(a, b, c)


def biased(a: Tensor, bias: Tensor) -> Tensor:
    return a + bias.reshape(-1, *(1 for _ in a.shape[2:]))


def scaled(x: Tensor, weight: Tensor, both: bool) -> tuple[Tensor, Tensor]:
    out = x * weight
    summed = out if both else x
    return out, summed.sum(-1, dtype=summed.dtype)


def tallied(x: Tensor, seen: Tensor, both: bool) -> Tensor:
    seen.fill_(1)
    return x + seen if both else x.clone()
