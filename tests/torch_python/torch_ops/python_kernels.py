"""The kernels that the dispatch entries of examples/torch_ops/ops.yaml name, in Python."""

import torch


def muladd_cpu(a, b, s):
    if a.shape != b.shape:
        raise RuntimeError("muladd: shapes differ")
    return torch.add(a * b, s, out=torch.empty_like(a))


def scale_cpu(self, s, *, out=None):
    return torch.mul(self, s, out=out)


def scale_cpu_(self, s):
    return self.mul_(s)


def minmax_cpu(self):
    if self.numel() == 0:
        raise RuntimeError("minmax: no elements")
    return self.min(), self.max()


def weighted_sum_cpu(xs, weight, *, scale):
    if not xs or any(x.shape != xs[0].shape for x in xs):
        raise RuntimeError("weighted_sum: tensors of one shape")
    if weight is not None and weight.shape != (len(xs),):
        raise RuntimeError("weighted_sum: one weight for each tensor")
    total = torch.zeros_like(xs[0], memory_format=torch.contiguous_format)
    for i, x in enumerate(xs):
        total = total + x * (weight[i] if weight is not None else 1)
    return total if scale is None else total * scale


def squares(n, *, dtype, device):
    return torch.arange(n, dtype=dtype or torch.int64, device=device) ** 2


def rms_norm(x, weight, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def smooth_relu_cpu(self):
    return (self + (self * self + 1).sqrt()) / 2


def diagonal_view(self):
    return self.diagonal()


def hinge_cpu(input, target, margin):
    if input.shape != target.shape:
        raise RuntimeError("hinge: shapes differ")
    if input.dtype is torch.bfloat16:
        raise RuntimeError("hinge: bfloat16")
    rest = margin - input * target
    return rest.clamp_min(0).contiguous(), (rest > 0).contiguous()


def drift_cpu(x, saved_x, _kernel):
    return ((x - saved_x) / _kernel) ** 2


def column_sums_cpu(self):
    if self.dim() != 2:
        raise RuntimeError("column_sums: a matrix")
    return self.sum(0)
