"""Memory that tensors share.

A `Storage` holds one C-contiguous NumPy array, its `base`; tensors are windows on it. A Meta
storage has no base. Growing a storage replaces the base; tensors notice, for they remember the base
of their window.

    Storage(base, device)             around an array, without a copy
    storage.nbytes; storage.data_ptr(); storage.base
    storage.version                   how often an operator has written to it; None if it was made in
                                      inference mode, where nobody counts
    storage.reserve(elements, numpy_dtype)     grow when smaller; old bytes stay
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_reference.device import device as Device
from torchgen_lite_runtime import inference_use, is_inference_mode_enabled

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


class Storage:
    """A block of memory on a device."""

    __slots__ = ("__weakref__", "base", "device", "version")

    base: Array | None
    device: Device
    version: int | None

    def __init__(self, base: Array | None, on: Device) -> None:
        self.base = base
        self.device = on
        self.version = 0
        if inference_use.seen and is_inference_mode_enabled():
            self.version = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Storage, (self.base, self.device))

    @property
    def nbytes(self) -> int:
        return 0 if self.base is None else self.base.nbytes

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is no memory."""
        return 0 if self.base is None or not self.base.nbytes else int(self.base.ctypes.data)

    def uncounted(self) -> Storage:
        """The same memory with a version of its own."""
        return Storage(self.base, self.device)

    def reserve(self, elements: int, element_type: np.dtype[Any]) -> None:
        """Make room for so many elements. A storage without memory stays so."""
        old = self.base
        if old is None or elements * element_type.itemsize <= old.nbytes:
            return
        grown = np.zeros(elements, element_type)
        if old.nbytes:
            grown.view(np.uint8)[: old.nbytes] = old.reshape(-1).view(np.uint8)
        self.base = grown

    def __repr__(self) -> str:
        return f"Storage(nbytes={self.nbytes}, device='{self.device}')"


def adopt(array: Array) -> Array:
    """A C-contiguous array over the memory of `array`, which starts where it starts.

    A transposed or sliced array gives a flat window from its first to its last element.
    """
    if array.flags.c_contiguous:
        return array
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative"
            " strides are not supported. Copy the array with array.copy() first."
        )
    itemsize = array.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size."
            " Copy the numpy array to reallocate the memory."
        )
    if not array.size:
        return np.empty(0, array.dtype)
    extent = 1 + sum((n - 1) * (s // itemsize) for n, s in zip(array.shape, array.strides))
    writeable = array.flags.writeable
    return np.lib.stride_tricks.as_strided(array, (extent,), (itemsize,), writeable=writeable)
