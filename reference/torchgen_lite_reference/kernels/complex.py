"""Complex numbers: the conjugate, and their parts as views on the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.dtype import float32, float64
from torchgen_lite_reference.kernels.common import finish, run, unary_spec
from torchgen_lite_reference.structured import ExactSpec, allocate

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def conj_physical(self: Tensor) -> Tensor:
    """A copy with the signs of the imaginary parts inverted; a real tensor is returned itself."""
    return ops._conj_physical(self) if self._dtype.is_complex else self


def _conj_physical(self: Tensor) -> Tensor:
    if not self._dtype.is_complex:
        return ops.clone(self)
    out = allocate(unary_spec(self, self._dtype), self._device.backend)
    return ops.conj_physical_out(self, out=out)


def conj_physical_(self: Tensor) -> Tensor:
    return ops.conj_physical_out(self, out=self) if self._dtype.is_complex else self


def conj_physical_out(self: Tensor, *, out: Tensor) -> Tensor:
    spec = unary_spec(self, self._dtype, ExactSpec)
    return finish(out, spec, lambda: run(np.conjugate, out, self._array))


def view_as_real(self: Tensor) -> Tensor:
    """The real and the imaginary parts along another dimension, the last."""
    if not self._dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    strides = [*(stride * 2 for stride in self._strides), 1]
    result = self._as_strided((*self._shape, 2), strides, self._offset * 2)
    result._dtype = self._dtype.to_real()
    return result


def view_as_complex(self: Tensor) -> Tensor:
    """The inverse of `view_as_real`; the pairs must lie side by side."""
    if self._dtype is not float32 and self._dtype is not float64:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of"
            f" scalar type: {self._dtype.scalar_type}"
        )
    if not self._shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self._shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if self._strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 for stride in self._strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if self._offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    strides = [stride // 2 for stride in self._strides[:-1]]
    result = self._as_strided(self._shape[:-1], strides, self._offset // 2)
    result._dtype = self._dtype.to_complex()
    return result


def real(self: Tensor) -> Tensor:
    """A view of the real parts; a real tensor itself."""
    return ops.select_int(ops.view_as_real(self), -1, 0) if self._dtype.is_complex else self


def imag(self: Tensor) -> Tensor:
    """A view of the imaginary parts."""
    if not self._dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return ops.select_int(ops.view_as_real(self), -1, 1)
