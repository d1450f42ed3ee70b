def axpy(x, y, *, a):
    return a * x + y


def axpy_(x, y, *, a):
    return x.mul_(a).add_(y)


def topk(self, k, *, index):
    return self.topk(k)


def nonzeros(x):
    return x.nonzero()


def flipped(self):
    return self.t()


def add_out(self, other, *, alpha, out):
    return out


def gated(x, gate, *, by):
    return x * by if gate is None else x * gate.sigmoid() * by


def scaled_vec8(x, by, len): ...
def scaled_by(x, by, len): ...
def scaled_any(x, by, len): ...
def scaled_tuned(x, by, len, *, block): ...
