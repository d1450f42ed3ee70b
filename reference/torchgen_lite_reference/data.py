"""Python data as NumPy arrays: numbers, nested sequences, arrays and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_lite_reference.dtype import (
    BOOL,
    COMPLEX,
    INTEGER,
    bool_,
    default_complex_dtype,
    get_default_dtype,
    iinfo,
    int64,
    of_numpy,
)
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.silence import converted
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.window import Window


def array_of(data: Any, dtype: DType | None = None) -> Array:
    """A row-major copy of the data, which determines the dtype if none is given.

    ValueError for ragged sequences, TypeError for anything that is not a number.
    """
    array, inferred = _inferred(data)
    wanted = dtype or inferred
    if not isinstance(data, (Window, np.ndarray)):
        _check_range(array, wanted)
    return np.array(converted(array, wanted.numpy), order="C", copy=True)


def _inferred(data: Any) -> tuple[Array, DType]:
    if isinstance(data, Window):
        return data._array, data._dtype
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
        return array, of_numpy(array.dtype)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        data = _lower(data)
    elif not isinstance(data, (int, float, complex)):
        raise TypeError(f"cannot make a tensor from a {type(data).__name__}")
    try:
        array = np.array(data)
    except ValueError:
        raise ValueError("the nested sequences of a tensor must have equal lengths") from None
    if array.dtype.kind not in "biufc":
        raise TypeError("the elements of a tensor must be numbers, or integers of at most 64 bits")
    if not array.size:
        return array, get_default_dtype()
    return array, _INFERRED[array.dtype.kind]()


def _check_range(array: Array, wanted: DType) -> None:
    """Python numbers must fit the requested type; a negative one wraps in an unsigned type."""
    if array.dtype.kind == "c" and wanted.category < COMPLEX:
        if wanted.category != BOOL:
            raise TypeError("must be real number, not complex")
    elif wanted.category == INTEGER and array.size and array.dtype.kind != "b":
        limits = iinfo(wanted)
        least = limits.min if wanted.is_signed else -limits.max
        # NaN fails both comparisons, so the negation refuses it as well.
        if not (array.min() >= least and array.max() <= limits.max):
            raise RuntimeError(f"value cannot be converted to type {wanted.name} without overflow")


def _lower(data: Any) -> Any:
    """Nested sequences with the zero-dimensional tensors in them as numbers."""
    if isinstance(data, Window):
        return data._array.tolist()
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [_lower(item) for item in data]
    return data


_INFERRED = {
    "b": lambda: bool_,
    "i": lambda: int64,
    "u": lambda: int64,
    "f": get_default_dtype,
    "c": default_complex_dtype,
}
