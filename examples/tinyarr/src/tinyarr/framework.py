"""What generated code takes from this library (`framework` in the configuration)."""

from __future__ import annotations

from typing import Union

from torchgen_lite.runtime import DispatchKeySet

from tinyarr._array import Array, keyset_of
from tinyarr.autograd import (
    Gradients,
    Node,
    after_autograd,
    edge_of,
    grad_enabled,
    save,
    set_history,
)

Tensor = Array
Number = Union[bool, int, float, complex]
device = str


def key_for_options(dtype: None, layout: None, device: str | None) -> DispatchKeySet:
    """Where `full` runs: of the options that say so, its schema has `device` alone."""
    return keyset_of(device or "cpu")


__all__ = [
    "Gradients",
    "Node",
    "Number",
    "Tensor",
    "after_autograd",
    "device",
    "edge_of",
    "grad_enabled",
    "key_for_options",
    "save",
    "set_history",
]
