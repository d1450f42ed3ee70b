"""`softmax` and its logarithm.

`_softmax` and `_log_softmax` are the kernels; the public operators convert the dtype first. The largest
element is subtracted before the exponential, so that nothing overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import FLOATING, float32
from torchgen_lite_reference.geometry import wrap_dim
from torchgen_lite_reference.kernels.common import store, unsupported
from torchgen_lite_reference.kernels.outputs import write_out
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.dtype import dtype as DType
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Tensor


def _softmax_spec(name: str, self: Tensor, dim: int, half_to_float: bool) -> TensorSpec:
    wrap_dim(dim, self.ndim)
    if self._dtype.category != FLOATING:
        raise unsupported(name, self._dtype)
    dtype = float32 if half_to_float else self._dtype
    return ExactSpec(self._shape, dtype, None, self._device)


def _shifted(self: Tensor) -> Array:
    array = self._array.reshape(self._shape or (1,))
    return array.astype(np.float32) if array.dtype == np.float16 else array


def meta__softmax(self: Tensor, dim: int, half_to_float: bool) -> TensorSpec:
    return _softmax_spec("softmax_lastdim_kernel_impl", self, dim, half_to_float)


def softmax_cpu_out(self: Tensor, dim: int, half_to_float: bool, *, out: Tensor) -> None:
    array = _shifted(self)
    if array.size:
        with quiet():
            powers = np.exp(array - array.max(axis=dim, keepdims=True))
            store(out, (powers / powers.sum(axis=dim, keepdims=True)).reshape(self._shape))


def meta__log_softmax(self: Tensor, dim: int, half_to_float: bool) -> TensorSpec:
    return _softmax_spec("log_softmax_lastdim_kernel_impl", self, dim, half_to_float)


def log_softmax_cpu_out(self: Tensor, dim: int, half_to_float: bool, *, out: Tensor) -> None:
    array = _shifted(self)
    if array.size:
        with quiet():
            shifted = array - array.max(axis=dim, keepdims=True)
            total = np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
            store(out, (shifted - total).reshape(self._shape))


def _converted(self: Tensor, dtype: DType | None) -> Tensor:
    return self if dtype is None else ops.to_dtype(self, dtype)


def softmax_int(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    return ops._softmax(_converted(self, dtype), dim, False)


def softmax_out(self: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor) -> Tensor:
    return write_out(out, softmax_int(self, dim, dtype), ExactSpec)


def log_softmax_int(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    return ops._log_softmax(_converted(self, dtype), dim, False)


def log_softmax_out(self: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor) -> Tensor:
    return write_out(out, log_softmax_int(self, dim, dtype), ExactSpec)
