"""The array: its elements, its shape, and the keyset by which the dispatcher finds kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from torchgen_lite.runtime import DispatchKey, DispatchKeySet

from tinyarr._ops.methods import TensorMethods

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinyarr.autograd import Node

    Data = Union[NDArray[np.float64], list[float]]

# One for each device. Keysets are interned, so an array keeps one in a plain attribute.
KEYSETS = {
    "cpu": DispatchKeySet(DispatchKey.CPU),
    "sim": DispatchKeySet(DispatchKey.PrivateUse1),
}
# Those of arrays that gradients are wanted of: calls run the kernels of Autograd first.
RECORDED = {
    "cpu": KEYSETS["cpu"] | DispatchKeySet(DispatchKey.AutogradCPU),
    "sim": KEYSETS["sim"] | DispatchKeySet(DispatchKey.AutogradPrivateUse1),
}


class Array(TensorMethods):
    """Elements on a device: a NumPy array of them on the CPU, a flat list on `sim`."""

    __slots__ = ("_dispatch_keyset", "_requires_grad", "data", "device", "grad", "node", "shape")

    def __init__(self, data: Data, shape: tuple[int, ...], device: str) -> None:
        self.data: Any = data
        self.shape = shape
        self.device = device
        self.grad: Array | None = None
        self._dispatch_keyset = keyset_of(device)
        self._requires_grad = False

    def record(self, node: Node) -> None:
        """From now on calls record what they do with the array, which is the result of `node`."""
        self.node = node
        self._requires_grad = True
        self._dispatch_keyset = RECORDED[self.device]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def numpy(self) -> NDArray[np.float64]:
        """The elements, wherever they are."""
        return np.asarray(self.data, np.float64).reshape(self.shape)

    def __repr__(self) -> str:
        return f"array({self.numpy().tolist()}, device={self.device!r})"


def check_alike(self: Array, other: Array) -> None:
    """Raise ValueError unless both have one shape and are on one device.

    A call with several devices runs the kernel of the one whose key is highest, here `sim`.
    """
    for what in ("device", "shape"):
        first, second = getattr(self, what), getattr(other, what)
        if first != second:
            raise ValueError(f"arrays have one {what}, not {first} and {second}")


def keyset_of(device: str) -> DispatchKeySet:
    """Raises ValueError for a device that there is not."""
    if device not in KEYSETS:
        raise ValueError(f"no device {device!r}; there are {', '.join(KEYSETS)}")
    return KEYSETS[device]


def array(values: float | Sequence[Any] | NDArray[np.float64], device: str = "cpu") -> Array:
    """An array of nested sequences of numbers."""
    elements = np.array(values, np.float64)
    return Array(elements, elements.shape, "cpu").to(device)
