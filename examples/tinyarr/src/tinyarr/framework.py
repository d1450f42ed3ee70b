"""The types that generated annotations name (`framework` in the configuration)."""

from __future__ import annotations

from typing import Union

from tinyarr._array import Array

Tensor = Array
Number = Union[bool, int, float, complex]
device = str

__all__ = ["Number", "Tensor", "device"]
