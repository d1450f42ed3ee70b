"""The options of factories, which are passed on together: `**options: Unpack[TensorOptions]`."""

from __future__ import annotations

from typing import TypedDict

from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.device import layout as Layout
from torchgen_lite_reference.device import memory_format as MemoryFormat
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.dtype import get_default_dtype


class TensorOptions(TypedDict, total=False):
    """The defaults: the default dtype, and the CPU as the device."""

    dtype: DType | None
    layout: Layout | None
    device: Device | None
    pin_memory: bool | None


class FormatOptions(TensorOptions, total=False):
    memory_format: MemoryFormat | None


def dtype_of(options: TensorOptions) -> DType:
    return options.get("dtype") or get_default_dtype()
