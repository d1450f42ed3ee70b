"""A mixin: a tensor with another dtype, on another device, in another order of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchgen_lite_ops import operators
from torchgen_lite_reference.device import as_device, cpu
from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.device import memory_format as MemoryFormat
from torchgen_lite_reference.dtype import bool_, float16, float32, float64, int32, int64
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.formats import keeps_format
from torchgen_lite_reference.window import Window

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def _to(
    self: Any,
    *args: Any,
    device: Device | str | None = None,
    dtype: DType | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """`self` with another device or dtype; `self` itself if it has both and `copy` is False."""
    flags = [argument for argument in args if isinstance(argument, bool)]
    # Positional flags are `non_blocking` and then `copy`.
    copy = copy or (len(flags) > 1 and flags[1])
    for argument in args:
        if isinstance(argument, Window):
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
        unchanged: Tensor = self
        return unchanged
    return operators._to_copy(
        self,
        dtype=wanted_dtype,
        device=wanted_device,
        non_blocking=non_blocking,
        memory_format=memory_format,
    )


class Conversions:
    """`x.to(...)`, `x.float()` and so on; their names hide Python's own types in the class."""

    __slots__ = ()

    def to(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """`to(device)`, `to(dtype)`, `to(device, dtype)`, `to(other)`; itself if nothing changes."""
        return _to(self, *args, **kwargs)

    def cpu(self: Any) -> Tensor:
        return _to(self, device=cpu)

    def type_as(self: Any, other: Tensor) -> Tensor:
        return _to(self, other)

    def float(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, float32, memory_format=memory_format)

    def double(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, float64, memory_format=memory_format)

    def half(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, float16, memory_format=memory_format)

    def int(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, int32, memory_format=memory_format)

    def long(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, int64, memory_format=memory_format)

    def bool(self: Any, memory_format: Any = None) -> Tensor:
        return _to(self, bool_, memory_format=memory_format)
