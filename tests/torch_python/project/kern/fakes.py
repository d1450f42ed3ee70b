import torch


def muladd_vmap(info, in_dims, a, b, s):
    a = a if in_dims[0] is None else a.movedim(in_dims[0], 0)
    b = b if in_dims[1] is None else b.movedim(in_dims[1], 0)
    return torch.ops.tl_ops.muladd.default(a, b, s), 0


def nonzeros_fake(x, *, least=0):
    n = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty([n, x.dim()], dtype=torch.int64)
