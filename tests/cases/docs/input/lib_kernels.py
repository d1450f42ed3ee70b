"""Kernels of the case."""


def add_kernel(self, other, *, alpha=1):
    return self + alpha * other


def add_slow(self, other, *, alpha=1):
    return self + alpha * other


def add_out(self, other, *, alpha=1, out):
    return out


def __and___T(self, other):
    return self


def __and___t(self, other):
    return other
