import torch


def muladd_cpu(a, b, s):
    return (a * b + s).contiguous()


def scale_cpu(self, s):
    return self * s


def scale_cpu_(self, s):
    return self.mul_(s)


def scale_out_cpu(self, s, *, out):
    return torch.mul(self, s, out=out)


def minmax_cpu(self):
    return self.min(), self.max()


def weighted_sum_cpu(xs, weight, *, scale):
    total = torch.zeros_like(xs[0])
    for i, x in enumerate(xs):
        total = total + x * (weight[i] if weight is not None else 1)
    return total if scale is None else total * scale


def squares(n, *, dtype):
    return torch.arange(n, dtype=dtype or torch.int64) ** 2


def rms_norm(x, weight, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def smooth_relu_cpu(self):
    return torch.relu(self)


def diagonal_view_cpu(self):
    return self.as_strided([min(self.shape)], [sum(self.stride())], self.storage_offset())


def note_cpu(x, message):
    pass


def nonzeros_cpu(x, *, least):
    return torch.nonzero(x > least)


def chunks_cpu(x, n):
    return [c.clone() for c in x.chunk(n)]


def add_twice_(self, other):
    return self.add_(other, alpha=2)


def store(x, to):
    to.copy_(x * 2)


def silu(x, k, *, n):
    y = x.float()
    return (y * torch.sigmoid(k * y)).to(x.dtype)


def square(x):
    assert x.dtype == torch.float32
    return x * x


def step(x):
    return (x > 0).to(x.dtype)


def weigh(x, ys, *, weight):
    return (x + sum(ys)) * weight


def twice(self, other, *, s):
    return self * other * s


def twice_(self, other, *, s):
    return self.mul_(other).mul_(s)


def halved_backward(grad, n):
    return grad / n


def waves_backward(grad, x, result):
    return grad * torch.cos(x) + 0 * result


def halved(x, n):
    return _copied(x) / n


def waves(x):
    return torch.sin(_copied(x))


def twin(x):
    return _copied(x)


def joined(x, ys):
    return _copied(x) + sum(map(_copied, ys))


def _copied(x):
    """As a kernel of another library: autograd sees nothing of it."""
    return x.detach().clone()


def squared_(self, weight, dims):
    return self.mul_(self if weight is None else self * weight)


def normed(x, weight, *, eps):
    rstd = (x * x).mean(-1, keepdim=True).add(eps).rsqrt()
    return _copied(x) * rstd * (1.0 if weight is None else weight), rstd


def spread(self, other, k):
    return _copied(self) * other.exp() * k[0]


def cubes(xs, index, unused):
    return [_copied(x) ** 3 for x in xs]


def rank(x):
    return x.dim()
