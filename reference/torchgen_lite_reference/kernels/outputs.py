"""Writing a finished result into the tensor that the caller gave.

Composite out variants compute first and copy afterwards: that is what ATen does wherever an operator
has no out kernel of its own, and it is right when `out` overlaps an input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.structured import TensorSpec, resize_out

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def write_out(out: Tensor, result: Tensor, kind: type[TensorSpec] = TensorSpec) -> Tensor:
    """`out`, resized to the shape of `result` and holding its elements."""
    resize_out(out, kind(result._shape, result._dtype))
    return ops.copy_(out, result)
