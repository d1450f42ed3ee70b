"""Kernels that serve every device."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinyarr._array import Array, keyset_of
from tinyarr._ops import functions


def mean(self: Array) -> Array:
    total = self.sum()
    return total * functions.full((), 1 / self.size, device=self.device)


def full(size: Sequence[int], fill_value: float, *, device: str | None) -> Array:
    shape = tuple(size)
    if device == "sim":
        return Array([float(fill_value)] * math.prod(shape), shape, device)
    return Array(np.full(shape, fill_value, np.float64), shape, device or "cpu")


def to(self: Array, device: str) -> Array:
    keyset_of(device)
    if device == self.device:
        return self
    elements = self.numpy().copy()
    return Array(elements.ravel().tolist() if device == "sim" else elements, self.shape, device)
