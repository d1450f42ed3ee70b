"""The types in generated annotations of a package without a tensor framework.

A framework module, named by `framework` in the configuration of the Python target, supplies the same
names with real types, and the helpers that structured kernels and BackendSelect kernels call.
"""

from __future__ import annotations

from typing import Any, Union

from .arguments import Dispatchable

Tensor = Dispatchable
Number = Union[bool, int, float, complex]
Generator = Any
dtype = Any
device = Any
layout = Any
memory_format = Any
Storage = Any
Stream = Any

contiguous_format = "contiguous_format"
preserve_format = "preserve_format"
