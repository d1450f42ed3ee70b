"""What generated code takes from this library (`framework` in the configuration)."""

from __future__ import annotations

from typing import Union

from torchgen_lite.runtime import DispatchKeySet

from tinyarr._array import Array, keyset_of

Tensor = Array
Number = Union[bool, int, float, complex]
device = str


def key_for_options(dtype: None, layout: None, device: str | None) -> DispatchKeySet:
    """Where `full` runs: of the options that say so, its schema has `device` alone."""
    return keyset_of(device or "cpu")


__all__ = ["Number", "Tensor", "device", "key_for_options"]
