"""Running sums and products: cumsum, cumprod. Integers and bool become int64, as in a sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_reference.dtype import bool_, dtype
from torchgen_lite_reference.geometry import wrap_dim
from torchgen_lite_reference.kernels.common import operand, store, unsupported
from torchgen_lite_reference.promotion import accumulate_type
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import AnySpec, ExactSpec, TensorSpec
from torchgen_lite_reference.tensor import Tensor

DType = dtype


def _scan_spec(self: Tensor, dim: int, given: dtype | None) -> TensorSpec:
    wrap_dim(dim, self.ndim)
    kind = AnySpec if given is None else ExactSpec
    return kind(self._shape, given or accumulate_type(self._dtype), None, self._device)


def _scan(function: Any, self: Tensor, dim: int, given: dtype | None, out: Tensor) -> None:
    given = given or out._dtype
    if given is bool_:
        raise unsupported(f"{function.__name__}_out_cpu", given)
    array = operand(self, given.numpy)
    if not array.ndim:
        store(out, array)
        return
    # Half precision is carried on in single and rounded at each step's end, as ATen does.
    wide = np.float32 if array.dtype == np.float16 else array.dtype
    with quiet():
        store(out, function(array, axis=wrap_dim(dim, array.ndim), dtype=wide))


def meta_cumsum(self: Tensor, dim: int, *, dtype: DType | None = None) -> TensorSpec:
    return _scan_spec(self, dim, dtype)


def cumsum_out(self: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor) -> None:
    _scan(np.cumsum, self, dim, dtype, out)


def meta_cumprod(self: Tensor, dim: int, *, dtype: DType | None = None) -> TensorSpec:
    return _scan_spec(self, dim, dtype)


def cumprod_out(self: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor) -> None:
    _scan(np.cumprod, self, dim, dtype, out)
