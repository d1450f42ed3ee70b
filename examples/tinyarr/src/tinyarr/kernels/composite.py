"""Kernels that serve every device."""

from __future__ import annotations

from tinyarr._array import Array, keyset_of
from tinyarr._ops import functions


def mean(self: Array) -> Array:
    total = self.sum()
    return total * functions.full((), 1 / self.size, device=self.device)


def to(self: Array, device: str) -> Array:
    keyset_of(device)
    if device == self.device:
        return self
    elements = self.numpy().copy()
    return Array(elements.ravel().tolist() if device == "sim" else elements, self.shape, device)
