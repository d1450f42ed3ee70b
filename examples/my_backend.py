"""An out-of-tree backend: kernels for PrivateUse1, on operators that this module does not own.

Importing it registers them; `library.close()` would take them back. Its tensors keep their elements in
NumPy memory, so a kernel here is one expression; another backend would call its own runtime.
"""

from __future__ import annotations

import numpy as np

import torchgen_lite_reference as tl
from torchgen_lite_reference.tensor import empty_strided, wrap_array
from torchgen_lite_runtime import Library

DEVICE = tl.device("privateuse1")
library = Library("aten", "IMPL", "PrivateUse1")


def add(self: tl.Tensor, other: tl.Tensor, *, alpha: tl.Number = 1) -> tl.Tensor:
    return wrap_array(np.asarray(self._array + alpha * other._array), DEVICE)


def mul(self: tl.Tensor, other: tl.Tensor) -> tl.Tensor:
    return wrap_array(np.asarray(self._array * other._array), DEVICE)


def empty(size: list[int], *, dtype: tl.dtype | None = None, **options: object) -> tl.Tensor:
    return empty_strided(tuple(size), None, dtype or tl.float32, DEVICE)


def new_strided(
    size: list[int], stride: list[int], *, dtype: tl.dtype | None = None, **options: object
) -> tl.Tensor:
    return empty_strided(tuple(size), tuple(stride), dtype or tl.float32, DEVICE)


def copy_(self: tl.Tensor, src: tl.Tensor, non_blocking: bool = False) -> tl.Tensor:
    """Between this backend and any other, in both directions: that is what `x.to(device)` needs."""
    self._array[...] = src._array
    return self


library.impl("add.Tensor", add)
library.impl("mul.Tensor", mul)
library.impl("empty.memory_format", empty)
library.impl("empty_strided", new_strided)
library.impl("copy_", copy_)
