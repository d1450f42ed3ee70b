# ruff: noqa: N816  (the names hold ATen's overload names)
"""Comparisons and logical operators: the result is bool, operands meet in a common dtype."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.dtype import COMPLEX, FLOATING, bool_
from torchgen_lite_reference.kernels.common import (
    BinaryImpl,
    BinaryMeta,
    finish,
    operand,
    operands,
    pointwise_spec,
    run,
    unsupported,
)
from torchgen_lite_reference.promotion import common_type, result_type
from torchgen_lite_reference.silence import Compute, quiet
from torchgen_lite_reference.structured import TensorSpec, allocate, check_inplace
from torchgen_lite_reference.tensor import Number, Tensor


class ScalarMeta(Protocol):
    def __call__(self, input: Tensor, other: Number, /) -> TensorSpec: ...


class ScalarImpl(Protocol):
    def __call__(self, input: Tensor, other: Number, /, *, out: Tensor) -> None: ...


def _meta(name: str, highest: int) -> BinaryMeta:
    def meta_compare(self: Tensor, other: Tensor, /) -> TensorSpec:
        common = common_type(self, other)
        if common.category > highest:
            raise unsupported(name, common)
        return pointwise_spec(bool_, self, other)

    return meta_compare


def _scalar_meta(name: str, highest: int) -> ScalarMeta:
    def meta_compare(self: Tensor, other: Number, /) -> TensorSpec:
        common = result_type(self, other)
        if common.category > highest:
            raise unsupported(name, common)
        return pointwise_spec(bool_, self)

    return meta_compare


def _compare(ufunc: Compute) -> BinaryImpl:
    def impl(self: Tensor, other: Tensor, /, *, out: Tensor) -> None:
        run(ufunc, out, *operands(self, other))

    return impl


def _compare_scalar(ufunc: Compute) -> ScalarImpl:
    def impl(self: Tensor, other: Number, /, *, out: Tensor) -> None:
        common = result_type(self, other).numpy
        with quiet():
            number = np.asarray(other).astype(common)
        run(ufunc, out, operand(self, common), number)

    return impl


meta_eq_Tensor = _meta("compare_cpu", COMPLEX)
meta_ne_Tensor = _meta("compare_cpu", COMPLEX)
meta_lt_Tensor = _meta("compare_cpu", FLOATING)
meta_le_Tensor = _meta("compare_cpu", FLOATING)
meta_gt_Tensor = _meta("compare_cpu", FLOATING)
meta_ge_Tensor = _meta("compare_cpu", FLOATING)
meta_eq_Scalar = _scalar_meta("compare_cpu", COMPLEX)
meta_ne_Scalar = _scalar_meta("compare_cpu", COMPLEX)
meta_lt_Scalar = _scalar_meta("compare_cpu", FLOATING)
meta_le_Scalar = _scalar_meta("compare_cpu", FLOATING)
meta_gt_Scalar = _scalar_meta("compare_cpu", FLOATING)
meta_ge_Scalar = _scalar_meta("compare_cpu", FLOATING)

eq_Tensor_out = _compare(np.equal)
ne_Tensor_out = _compare(np.not_equal)
lt_Tensor_out = _compare(np.less)
le_Tensor_out = _compare(np.less_equal)
gt_Tensor_out = _compare(np.greater)
ge_Tensor_out = _compare(np.greater_equal)
eq_Scalar_out = _compare_scalar(np.equal)
ne_Scalar_out = _compare_scalar(np.not_equal)
lt_Scalar_out = _compare_scalar(np.less)
le_Scalar_out = _compare_scalar(np.less_equal)
gt_Scalar_out = _compare_scalar(np.greater)
ge_Scalar_out = _compare_scalar(np.greater_equal)


def _logical_out(ufunc: Compute, self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """Operands of any dtype: nonzero is true. `out` may have any dtype, too."""
    common_type(self, other)
    spec = pointwise_spec(bool_, self, other)
    return finish(out, spec, lambda: run(ufunc, out, self._array != 0, other._array != 0))


def _fresh(self: Tensor, other: Tensor) -> Tensor:
    return allocate(pointwise_spec(bool_, self, other), self._device.backend)


def logical_and_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return _logical_out(np.logical_and, self, other, out)


def logical_and(self: Tensor, other: Tensor) -> Tensor:
    return operators.logical_and_out(self, other, out=_fresh(self, other))


def logical_and_(self: Tensor, other: Tensor) -> Tensor:
    check_inplace(self, pointwise_spec(bool_, self, other))
    return operators.logical_and_out(self, other, out=self)


def logical_or_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return _logical_out(np.logical_or, self, other, out)


def logical_or(self: Tensor, other: Tensor) -> Tensor:
    return operators.logical_or_out(self, other, out=_fresh(self, other))


def logical_or_(self: Tensor, other: Tensor) -> Tensor:
    check_inplace(self, pointwise_spec(bool_, self, other))
    return operators.logical_or_out(self, other, out=self)


def logical_xor_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    return _logical_out(np.logical_xor, self, other, out)


def logical_xor(self: Tensor, other: Tensor) -> Tensor:
    return operators.logical_xor_out(self, other, out=_fresh(self, other))


def logical_xor_(self: Tensor, other: Tensor) -> Tensor:
    check_inplace(self, pointwise_spec(bool_, self, other))
    return operators.logical_xor_out(self, other, out=self)


def cpu_equal(self: Tensor, other: Tensor) -> bool:
    """Same shape and same elements; nan equals nothing."""
    if self._dtype is not other._dtype:
        raise RuntimeError(
            f"Expected object of data type {self._dtype!r} but got data type {other._dtype!r} for"
            " argument #2 'other' in call to equal"
        )
    return self._shape == other._shape and bool(np.array_equal(self._array, other._array))


def isclose(
    self: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """|self - other| <= atol + rtol * |other|, element by element."""
    if self._dtype is not other._dtype:
        raise RuntimeError(f"{self._dtype!r} did not match {other._dtype!r}")
    for name, allowance in (("rtol", rtol), ("atol", atol)):
        if allowance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {allowance}")
    close = operators.eq_Tensor(self, other)
    if equal_nan and self._dtype.category >= FLOATING:
        both = operators.logical_and(operators.isnan(self), operators.isnan(other))
        close = operators.logical_or(close, both)
    if rtol == 0 and atol == 0:
        return close
    if self._dtype.category < FLOATING:
        self, other = operators.mul_Scalar(self, 1.0), operators.mul_Scalar(other, 1.0)
    allowed = operators.add_Scalar(operators.abs(operators.mul_Scalar(other, rtol)), atol)
    error = operators.abs(operators.sub_Tensor(self, other))
    within = operators.logical_and(operators.isfinite(error), operators.le_Tensor(error, allowed))
    return operators.logical_or(close, within)


def allclose(
    self: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    return bool(operators.all(operators.isclose(self, other, rtol, atol, equal_nan)).item())
