import torch


def weighted_sum_backward(grad, xs, weight, scale):
    scale = 1.0 if scale is None else scale
    return [grad * scale * (1.0 if weight is None else weight[i]) for i in range(len(xs))]


def silu_backward(grad, x, k):
    y = x.float()
    s = torch.sigmoid(k * y)
    return (grad.float() * (s + k * y * s * (1 - s))).to(x.dtype)


def opaque_backward(grad):
    with torch.no_grad():
        return grad * 1
