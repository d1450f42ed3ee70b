"""Matrix products.

The structured ones run on `numpy.matmul`. Half precision is computed in single, as its sums would lose
too much otherwise. With `beta == 0`, `self` is ignored, even if it contains NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import bool_, float16, float32
from torchgen_lite_reference.geometry import broadcast_shapes
from torchgen_lite_reference.kernels.common import common_device, run, store, unsupported
from torchgen_lite_reference.kernels.elements import element, wide
from torchgen_lite_reference.promotion import accumulate_type
from torchgen_lite_reference.silence import quiet
from torchgen_lite_reference.structured import ExactSpec, TensorSpec

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Number, Tensor


def _number(value: Number, self: Tensor) -> Any:
    """A factor in the type of the product; one of integers loses its fraction."""
    return element(value, float32 if self._dtype is float16 else self._dtype)


def _check_types(name: str, *tensors: Tensor) -> None:
    first = tensors[0]
    for other in tensors[1:]:
        if other._dtype is not first._dtype:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {first._dtype.name} !="
                f" {other._dtype.name}"
            )
    if first._dtype is bool_ and all(0 not in tensor._shape for tensor in tensors):
        raise unsupported(name, first._dtype)


def _accumulate(self: Tensor, product: Array, beta: Number, alpha: Number) -> Array:
    """beta * self + alpha * product."""
    result = product if alpha == 1 else product * _number(alpha, self)
    if beta == 0:
        return result
    addend = wide(self)
    total: Array = result + (addend if beta == 1 else addend * _number(beta, self))
    return total


def _check_broadcast(self: Tensor, shape: tuple[int, ...]) -> None:
    if self._shape != shape and broadcast_shapes(self._shape, shape) != shape:
        raise RuntimeError(
            f"The expanded size of the tensor {list(shape)} must match the existing size"
            f" {list(self._shape)}"
        )


def _product_shape(name: str, left: Tensor, right: Tensor) -> tuple[int, int]:
    if len(left._shape) != 2 or len(right._shape) != 2:
        raise RuntimeError(f"{name}: expected matrices, got {left.ndim}D and {right.ndim}D tensors")
    (n, k), (m, p) = left._shape, right._shape
    if k != m:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {m}x{p})")
    return n, p


def meta_mm(self: Tensor, mat2: Tensor) -> TensorSpec:
    left, right, dtype = self._shape, mat2._shape, self._dtype
    if len(left) != 2:
        raise RuntimeError("self must be a matrix")
    if len(right) != 2:
        raise RuntimeError("mat2 must be a matrix")
    if left[1] != right[0] or dtype is not mat2._dtype or dtype is bool_:
        _product_shape("mm", self, mat2)
        _check_types("addmm_impl_cpu_", self, mat2)
    on = self._device
    if mat2._device is not on:
        on = common_device(self, mat2)
    return ExactSpec((left[0], right[1]), dtype, None, on)


def mm_out_cpu(self: Tensor, mat2: Tensor, *, out: Tensor) -> None:
    run(np.matmul, out, wide(self), wide(mat2))


def meta_addmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> TensorSpec:
    shape = _product_shape("addmm", mat1, mat2)
    _check_types("addmm_impl_cpu_", mat1, mat2, self)
    _check_broadcast(self, shape)
    return ExactSpec(shape, self._dtype, None, common_device(self, mat1, mat2))


def addmm_out_cpu(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor
) -> None:
    with quiet():
        product = np.matmul(wide(mat1), wide(mat2))
        store(out, _accumulate(self, product, beta, alpha))


def _batch_shape(name: str, left: Tensor, right: Tensor) -> tuple[int, int, int]:
    if left.ndim != 3 or right.ndim != 3:
        raise RuntimeError(f"{name}: batch1 and batch2 must be 3D tensors")
    (b, n, k), (c, m, p) = left._shape, right._shape
    if b != c or k != m:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be:"
            f" [{b}, {k}] but got: [{c}, {m}]."
        )
    return b, n, p


def meta_bmm(self: Tensor, mat2: Tensor) -> TensorSpec:
    shape = _batch_shape("bmm", self, mat2)
    _check_types("bmm", self, mat2)
    return ExactSpec(shape, self._dtype, None, common_device(self, mat2))


def bmm_out_cpu(self: Tensor, mat2: Tensor, *, out: Tensor) -> None:
    run(np.matmul, out, wide(self), wide(mat2))


def meta_baddbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> TensorSpec:
    shape = _batch_shape("baddbmm", batch1, batch2)
    _check_types("baddbmm", batch1, batch2, self)
    _check_broadcast(self, shape)
    return ExactSpec(shape, self._dtype, None, common_device(self, batch1, batch2))


def baddbmm_out_cpu(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor,
) -> None:
    with quiet():
        product = np.matmul(wide(batch1), wide(batch2))
        store(out, _accumulate(self, product, beta, alpha))


def meta_addmv(
    self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> TensorSpec:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}"
        )
    n, k = mat._shape
    if k != vec._shape[0] or self.numel() not in (1, n):
        raise RuntimeError(
            f"size mismatch, got input ({self.numel()}), mat ({n}x{k}), vec ({vec._shape[0]})"
        )
    _check_types("addmv_impl_cpu", mat, vec, self)
    return ExactSpec((n,), vec._dtype, None, common_device(self, mat, vec))


def addmv_out_cpu(
    self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor
) -> None:
    with quiet():
        product = np.matmul(wide(mat), wide(vec))
        store(out, _accumulate(self, product, beta, alpha))


def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors; complex numbers are not conjugated."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self._dtype is not tensor._dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found"
            f" {self._dtype.scalar_type} and {tensor._dtype.scalar_type}"
        )
    if self._shape != tensor._shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self._shape[0]}] and src"
            f" [{tensor._shape[0]}] to have the same number of elements"
        )
    if self._dtype is bool_:
        raise unsupported("dot", self._dtype)
    result = ops.new_empty(self, [])
    if self._device is not meta:
        with quiet():
            store(result, np.dot(wide(self), wide(tensor)))
    return result


def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix; integers add up in int64."""
    if self.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    if self._dtype is bool_:
        raise unsupported("trace", self._dtype)
    result = ops.new_empty(self, [], dtype=accumulate_type(self._dtype))
    if self._device is not meta:
        store(result, np.trace(wide(self), dtype=wide(result).dtype))
    return result
