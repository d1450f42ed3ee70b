"""Kernels of the CPU, on NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinyarr._array import Array, check_alike


def _array(elements: Any) -> Array:
    return Array(np.asarray(elements), np.shape(elements), "cpu")


def add_cpu(self: Array, other: Array, *, alpha: float) -> Array:
    check_alike(self, other)
    return _array(self.data + alpha * other.data)


def mul_cpu(self: Array, other: Array) -> Array:
    check_alike(self, other)
    return _array(self.data * other.data)


def neg_cpu(self: Array) -> Array:
    return _array(-self.data)


def exp_cpu(self: Array) -> Array:
    return _array(np.exp(self.data))


def full_cpu(size: Sequence[int], fill_value: float, *, device: str | None) -> Array:
    return _array(np.full(size, fill_value, np.float64))


def sum_cpu(self: Array) -> Array:
    return _array(self.data.sum())
