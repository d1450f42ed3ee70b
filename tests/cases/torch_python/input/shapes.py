def unknown_size(x):
    raise NotImplementedError


def nonzeros_vmap(info, in_dims, x):
    raise NotImplementedError
