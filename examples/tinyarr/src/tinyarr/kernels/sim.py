"""Kernels of `sim`, a device whose memory is a list of floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tinyarr._array import Array, check_alike


def _each(function: Callable[..., float], *arrays: Array) -> Array:
    elements = [function(*values) for values in zip(*(array.data for array in arrays))]
    return Array(elements, arrays[0].shape, "sim")


def add_sim(self: Array, other: Array, *, alpha: float) -> Array:
    check_alike(self, other)
    return _each(lambda x, y: x + alpha * y, self, other)


def mul_sim(self: Array, other: Array) -> Array:
    check_alike(self, other)
    return _each(lambda x, y: x * y, self, other)


def neg_sim(self: Array) -> Array:
    return _each(lambda x: -x, self)


def exp_sim(self: Array) -> Array:
    return _each(math.exp, self)


def full_sim(size: Sequence[int], fill_value: float, *, device: str | None) -> Array:
    shape = tuple(size)
    return Array([float(fill_value)] * math.prod(shape), shape, "sim")


def sum_sim(self: Array) -> Array:
    return Array([sum(self.data)], (), "sim")
