"""What the operators are compared with: PyTorch's own functions."""

from __future__ import annotations

import torch
from torch import Tensor


def add_rms_norm_by_torch(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor, Tensor]:
    total = x + residual
    wide = total.to(torch.promote_types(x.dtype, torch.float32))
    rstd = torch.rsqrt(wide.square().mean(-1) + eps)
    return torch.nn.functional.rms_norm(total, weight.shape, weight, eps), total, rstd
