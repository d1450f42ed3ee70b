"""The kernels in Python."""

from __future__ import annotations

import torch
from torch import Tensor


def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    # The results are promised to be contiguous.
    total = (x + residual).contiguous()
    # Rows of bfloat16 are summed in float32.
    wide = total.to(torch.promote_types(x.dtype, torch.float32))
    rstd = torch.rsqrt(wide.square().mean(-1) + eps)
    return (wide * rstd.unsqueeze(-1) * weight).to(x.dtype), total, rstd


def add_rms_norm_backward(
    grad_out: Tensor, grad_sum: Tensor, sum: Tensor, weight: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor]:
    scale = rstd.unsqueeze(-1)
    normed, scaled = sum * scale, grad_out * weight
    mean = (scaled * normed).mean(-1, keepdim=True)
    grad_x = (scaled - normed * mean) * scale + grad_sum
    grad_weight = (grad_out * normed).sum_to_size(weight.shape)
    return grad_x.to(sum.dtype).contiguous(), grad_weight.to(weight.dtype)
