"""Tensors from Python data and from NumPy arrays.

tensor(data, *, dtype=None, device=None, requires_grad=False)    copies
as_tensor(data, dtype=None, device=None)                         copies only if it must
from_numpy(array)                                                shares memory
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_reference.data import array_of
from torchgen_lite_reference.device import as_device, cpu
from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.tensor import Tensor, place, wrap_array


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with a copy of the data: numbers, nested sequences, arrays or tensors.

    Without `dtype` the data decides: bool, int64, the default float type or its complex type; an array or a tensor
    keeps its own. ValueError for ragged sequences, TypeError for anything that is not a number.
    """
    made = place(array_of(data, dtype), as_device(device))
    return made.requires_grad_() if requires_grad else made


def as_tensor(data: Any, dtype: DType | None = None, device: Device | str | None = None) -> Tensor:
    """The data as a tensor, without a copy if it is a tensor, or an array of the same dtype."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if not isinstance(data, Tensor):
        return tensor(data, dtype=dtype, device=device)
    return data.to(device=device, dtype=dtype)


def from_numpy(array: Array) -> Tensor:
    """A tensor on the memory of the array: writing to either shows in both."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return wrap_array(array, cpu)
