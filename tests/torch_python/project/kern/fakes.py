import torch


def muladd_vmap(info, in_dims, a, b, s):
    values = [x.unsqueeze(0) if d is None else x.movedim(d, 0) for x, d in zip((a, b), in_dims)]
    most = max(x.dim() for x in values)
    a, b = (x.reshape(x.shape[0], *[1] * (most - x.dim()), *x.shape[1:]) for x in values)
    return torch.ops.tl_ops.muladd.default(a, b, s), 0


def nonzeros_fake(x, *, least=0):
    n = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty([n, x.dim()], dtype=torch.int64)


def add_twice_vmap(info, in_dims, self, other):
    self = self.movedim(in_dims[0], 0)
    if in_dims[1] is not None:
        other = other.movedim(in_dims[1], 0)
    return torch.ops.tl_ops.add_twice_(self, other), 0


def silu_reference(x, k=1.0, *, n=2):
    return x.float() * torch.sigmoid(k * x.float())


def spread_reference(self, other, k=(1, 1)):
    return self * torch.exp(other) * k[0]


def cubes_reference(xs, index, unused):
    return [x * x * x for x in xs]


def rank_fake(x):
    return x.dim()
