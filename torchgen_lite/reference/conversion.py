"""Between Python data, NumPy arrays and tensors.

tensor(data, *, dtype=None, device=None, requires_grad=False)    copies
as_tensor(data, dtype=None, device=None)                         copies only if it must
from_numpy(array)                                                shares memory
to(x, device | dtype | other, ..., copy=False)                   what `Tensor.to` does
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_lite.reference.device import as_device, cpu, memory_format, meta
from torchgen_lite.reference.device import device as Device
from torchgen_lite.reference.dtype import (
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
from torchgen_lite.reference.dtype import dtype as DType
from torchgen_lite.reference.formats import keeps_format
from torchgen_lite.reference.kernels.common import converted
from torchgen_lite.reference.storage import Array
from torchgen_lite.reference.tensor import Tensor, empty_strided, wrap_array
from torchgen_lite_ops import operators


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with a copy of the data: numbers, nested sequences, arrays or tensors.

    Without `dtype` the data decides: bool, int64, the default float type or its complex type; an
    array or a tensor keeps its own. ValueError for ragged sequences, TypeError for what is no
    number.
    """
    array, inferred = _array_of(data)
    wanted = dtype or inferred
    if not isinstance(data, (Tensor, np.ndarray)):
        _check_range(array, wanted)
    on = as_device(device)
    if on is meta:
        made = empty_strided(array.shape, None, wanted, on)
    else:
        made = wrap_array(np.array(converted(array, wanted.numpy), order="C", copy=True), on)
    return made.requires_grad_() if requires_grad else made


def as_tensor(data: Any, dtype: DType | None = None, device: Device | str | None = None) -> Tensor:
    """The data as a tensor, without a copy where it is one or shares its dtype with an array."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if not isinstance(data, Tensor):
        return tensor(data, dtype=dtype, device=device)
    return to(data, device=device, dtype=dtype)


def from_numpy(array: Array) -> Tensor:
    """A tensor on the memory of the array: writing to either shows in both."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return wrap_array(array, cpu)


def _array_of(data: Any) -> tuple[Array, DType]:
    if isinstance(data, Tensor):
        return data._array, data._dtype
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
        return array, of_numpy(array.dtype)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        data = _lower(data)
    elif not isinstance(data, (int, float, complex)):
        raise TypeError(f"can't make a tensor of a {type(data).__name__}")
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
    """Numbers of Python must fit the type that is asked for; a negative one wraps in an unsigned type."""
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
    if isinstance(data, Tensor):
        return data.tolist()
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


def to(
    self: Tensor,
    *args: Any,
    device: Device | str | None = None,
    dtype: DType | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`self` with another device or dtype; `self` itself if it has both and `copy` is False."""
    flags = [argument for argument in args if isinstance(argument, bool)]
    # Positional flags are `non_blocking` and then `copy`.
    copy = copy or (len(flags) > 1 and flags[1])
    for argument in args:
        if isinstance(argument, Tensor):
            device, dtype = argument._device, argument._dtype
        elif isinstance(argument, DType):
            dtype = argument
        elif isinstance(argument, (str, Device)):
            device = argument
        elif not isinstance(argument, bool):
            raise TypeError(
                f"to() takes a device, a dtype or a tensor, not {type(argument).__name__}"
            )
    wanted_device = self._device if device is None else as_device(device)
    wanted_dtype = dtype or self._dtype
    same = wanted_device is self._device and wanted_dtype is self._dtype
    if same and not copy and keeps_format(self._shape, self._strides, memory_format):
        return self
    return operators._to_copy(
        self,
        dtype=wanted_dtype,
        device=wanted_device,
        non_blocking=non_blocking,
        memory_format=memory_format,
    )
