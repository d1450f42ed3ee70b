"""Between Python numbers, element types and the types to compute in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite.reference.dtype import BOOL, COMPLEX, FLOATING, finfo, float16, iinfo
from torchgen_lite.reference.kernels.common import quiet

if TYPE_CHECKING:
    from torchgen_lite.reference.dtype import dtype as DType
    from torchgen_lite.reference.storage import Array
    from torchgen_lite.reference.tensor import Number, Tensor


def wide(self: Tensor) -> Array:
    """The elements, half precision as single: several steps are computed there and rounded once."""
    return self._array.astype(np.float32) if self._dtype is float16 else self._array


def element(value: Number, dtype: DType) -> Any:
    """A number as an element of a type: fractions are cut off, and -1 is 255 as a byte.

    RuntimeError for what is out of range otherwise (c10 `Scalar::to`, `overflows`).
    """
    if _overflows(value, dtype):
        raise RuntimeError(
            f"value cannot be converted to type {_C_TYPES[dtype.name]} without overflow"
        )
    if isinstance(value, complex) and dtype.category != COMPLEX:
        value = value.real
    with quiet():
        return np.asarray(value).astype(dtype.numpy)


_C_TYPES = {
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "float16": "at::Half",
    "float32": "float",
    "float64": "double",
}


def _overflows(value: Number, dtype: DType) -> bool:
    if dtype.category in (BOOL, COMPLEX):
        return False
    if isinstance(value, complex):
        return value.imag != 0 or _overflows(value.real, dtype)
    if dtype.category == FLOATING:
        return math.isfinite(value) and abs(value) > float(finfo(dtype).max)
    limits = iinfo(dtype)
    if not dtype.is_signed and isinstance(value, int):
        return abs(value) > limits.max
    return not limits.min <= value <= limits.max
