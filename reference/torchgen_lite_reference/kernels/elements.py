"""Python numbers as elements: which ones fit a type, and how they are converted. Types to compute in.

Note [Numbers that do not fit] A number that is out of a type's range is refused, and never wrapped: this module
implements that rule (c10 `Scalar::to`). Fractions are cut off, a negative number wraps in an unsigned type as it does
in C, and bool is true for what is not zero. Elements of tensors are converted without a check, as in C.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_reference.dtype import (
    BOOL,
    COMPLEX,
    FLOATING,
    complex64,
    finfo,
    float16,
    float32,
    iinfo,
)
from torchgen_lite_reference.silence import converted

if TYPE_CHECKING:
    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor


def wide(self: Tensor) -> Array:
    """The elements, half precision as single: several steps are computed there and rounded once."""
    return self._array.astype(np.float32) if self._dtype is float16 else self._array


def element(value: Number, dtype: DType) -> Any:
    """A number as an element of a type. RuntimeError if it is out of range."""
    if _overflows(value, dtype):
        raise RuntimeError(
            f"value cannot be converted to type {_C_TYPES[dtype.name]} without overflow"
        )
    return converted(np.asarray(value), dtype.numpy)


def filling(value: Number, dtype: DType) -> Any:
    """The same for `fill_`, which takes numbers that are out of range of half precision: they are infinite."""
    if dtype is not float16:
        return element(value, dtype)
    if isinstance(value, complex) and value.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return converted(np.asarray(value), dtype.numpy)


_C_TYPES = {
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
}


def _overflows(value: Number, dtype: DType) -> bool:
    if dtype.category == BOOL:
        return False
    if dtype.category == COMPLEX:
        value = complex(value)
        return dtype is complex64 and (
            _overflows(value.real, float32) or _overflows(value.imag, float32)
        )
    if isinstance(value, complex):
        return value.imag != 0 or _overflows(value.real, dtype)
    if dtype.category == FLOATING:
        return math.isfinite(value) and abs(value) > float(finfo(dtype).max)
    limits = iinfo(dtype)
    if not dtype.is_signed and isinstance(value, int):
        return abs(value) > limits.max
    return not limits.min <= value <= limits.max
