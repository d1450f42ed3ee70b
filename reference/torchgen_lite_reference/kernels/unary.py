"""Element-wise operators of one tensor.

A structured operator is two lines: `meta_sin` gives shape and dtype, `sin_out` computes. Integers and bool become the
default float type if the function requires it (ATen
`build_borrowing_unary_float_op`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import BOOL, COMPLEX, FLOATING, INTEGER, bool_
from torchgen_lite_reference.kernels.common import (
    UnaryImpl,
    UnaryMeta,
    finish,
    operand,
    run,
    store,
    unary_spec,
    unsupported,
)
from torchgen_lite_reference.kernels.error_function import erf, erfc
from torchgen_lite_reference.promotion import float_type
from torchgen_lite_reference.silence import Compute, quiet
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.structured import ExactSpec, TensorSpec, allocate
from torchgen_lite_reference.tensor import Tensor


def _float_meta(name: str, complex_too: bool = True) -> UnaryMeta:
    """The result is floating, or complex where the operand is."""

    def meta_float(self: Tensor, /) -> TensorSpec:
        if self._dtype.category == COMPLEX and not complex_too:
            raise unsupported(name, self._dtype)
        return unary_spec(self, float_type(self._dtype))

    return meta_float


def _same_meta(name: str, low: int, high: int) -> UnaryMeta:
    """The result has the operand's dtype, whose category must lie between `low` and `high`."""

    def meta_same(self: Tensor, /) -> TensorSpec:
        if not low <= self._dtype.category <= high:
            raise unsupported(name, self._dtype)
        return unary_spec(self, self._dtype, ExactSpec)

    return meta_same


def _float_ufunc(ufunc: Compute) -> UnaryImpl:
    def impl(self: Tensor, /, *, out: Tensor) -> None:
        run(ufunc, out, operand(self, float_type(self._dtype).numpy))

    return impl


def _float_function(function: Compute) -> UnaryImpl:
    """A function that is not a ufunc; half precision is computed in single, as ATen does."""

    def impl(self: Tensor, /, *, out: Tensor) -> None:
        array = operand(self, float_type(self._dtype).numpy)
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        with quiet():
            result = function(array)
        store(out, result)

    return impl


def _whole_ufunc(ufunc: Compute) -> UnaryImpl:
    """Rounding: integers are round already."""

    def impl(self: Tensor, /, *, out: Tensor) -> None:
        if self._dtype.category == INTEGER:
            store(out, self._array)
        else:
            run(ufunc, out, self._array)

    return impl


def _exp2(array: Array) -> Any:
    if array.dtype.kind == "f":
        return np.exp2(array)
    # Part by part: an infinite number times a complex one has parts that are NaN.
    scaled = np.empty_like(array)
    scaled.real, scaled.imag = array.real * math.log(2.0), array.imag * math.log(2.0)
    return np.exp(scaled)


def _rsqrt(array: Array) -> Any:
    return 1 / np.sqrt(array)


def _sigmoid(array: Array) -> Any:
    return 1 / (1 + np.exp(-array))


meta_exp = _float_meta("exp")
meta_exp2 = _float_meta("exp2")
meta_expm1 = _float_meta("expm1")
meta_log = _float_meta("log")
meta_log2 = _float_meta("log2")
meta_log10 = _float_meta("log10")
meta_log1p = _float_meta("log1p")
meta_sqrt = _float_meta("sqrt")
meta_rsqrt = _float_meta("rsqrt")
meta_reciprocal = _float_meta("reciprocal")
meta_sin = _float_meta("sin")
meta_cos = _float_meta("cos")
meta_tan = _float_meta("tan")
meta_asin = _float_meta("asin")
meta_acos = _float_meta("acos")
meta_atan = _float_meta("atan")
meta_sinh = _float_meta("sinh")
meta_cosh = _float_meta("cosh")
meta_tanh = _float_meta("tanh")
meta_asinh = _float_meta("asinh")
meta_acosh = _float_meta("acosh")
meta_atanh = _float_meta("atanh")
meta_sigmoid = _float_meta("sigmoid")
meta_erf = _float_meta("erf_vml_cpu", complex_too=False)
meta_erfc = _float_meta("erfc_vml_cpu", complex_too=False)

exp_out = _float_ufunc(np.exp)
exp2_out = _float_function(_exp2)
expm1_out = _float_ufunc(np.expm1)
log_out = _float_ufunc(np.log)
log2_out = _float_ufunc(np.log2)
log10_out = _float_ufunc(np.log10)
log1p_out = _float_ufunc(np.log1p)
sqrt_out = _float_ufunc(np.sqrt)
rsqrt_out = _float_function(_rsqrt)
reciprocal_out = _float_ufunc(np.reciprocal)
sin_out = _float_ufunc(np.sin)
cos_out = _float_ufunc(np.cos)
tan_out = _float_ufunc(np.tan)
asin_out = _float_ufunc(np.arcsin)
acos_out = _float_ufunc(np.arccos)
atan_out = _float_ufunc(np.arctan)
sinh_out = _float_ufunc(np.sinh)
cosh_out = _float_ufunc(np.cosh)
tanh_out = _float_ufunc(np.tanh)
asinh_out = _float_ufunc(np.arcsinh)
acosh_out = _float_ufunc(np.arccosh)
atanh_out = _float_ufunc(np.arctanh)
sigmoid_out = _float_function(_sigmoid)
erf_out = _float_function(erf)
erfc_out = _float_function(erfc)

meta_floor = _same_meta("floor_vml_cpu", INTEGER, FLOATING)
meta_ceil = _same_meta("ceil_vml_cpu", INTEGER, FLOATING)
meta_trunc = _same_meta("trunc_vml_cpu", INTEGER, FLOATING)
meta_round = _same_meta("round_vml_cpu", INTEGER, FLOATING)
meta_frac = _same_meta("frac_cpu", FLOATING, FLOATING)
meta_sign = _same_meta("sign", BOOL, FLOATING)
meta_sgn = _same_meta("sgn", BOOL, COMPLEX)
meta_bitwise_not = _same_meta("bitwise_not_cpu", BOOL, INTEGER)

floor_out = _whole_ufunc(np.floor)
ceil_out = _whole_ufunc(np.ceil)
trunc_out = _whole_ufunc(np.trunc)
round_out = _whole_ufunc(np.rint)


def meta_neg(self: Tensor) -> TensorSpec:
    if self._dtype is bool_:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to"
            " invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return unary_spec(self, self._dtype, ExactSpec)


def neg_out(self: Tensor, *, out: Tensor) -> None:
    run(np.negative, out, self._array)


def frac_out(self: Tensor, *, out: Tensor) -> None:
    array = self._array
    with quiet():
        result = array - np.trunc(array)
    store(out, result)


def sign_out(self: Tensor, *, out: Tensor) -> None:
    """-1, 0 or 1; nan has the sign 0, unlike in NumPy."""
    array = self._array
    if array.dtype.kind == "b":
        store(out, array)
    else:
        store(out, (array > 0).astype(array.dtype) - (array < 0).astype(array.dtype))


def sgn_out(self: Tensor, *, out: Tensor) -> None:
    """The sign; for complex numbers the direction z / |z|."""
    if self._dtype.category == COMPLEX:
        array = self._array
        magnitude = np.abs(array)
        store(out, np.divide(array, magnitude, out=np.zeros_like(array), where=magnitude != 0))
    else:
        sign_out(self, out=out)


def bitwise_not_out(self: Tensor, *, out: Tensor) -> None:
    run(np.invert, out, self._array)


def meta_signbit(self: Tensor) -> TensorSpec:
    if self._dtype.category == COMPLEX:
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return unary_spec(self, bool_)


def signbit_out(self: Tensor, *, out: Tensor) -> None:
    if out._dtype is not bool_:
        raise RuntimeError("signbit does not support non-boolean outputs.")
    array = self._array
    store(out, np.signbit(array) if array.dtype.kind == "f" else array < 0)


def meta_round_decimals(self: Tensor, *, decimals: int) -> TensorSpec:
    if self._dtype.category != FLOATING:
        raise unsupported("round_vml_cpu", self._dtype)
    return unary_spec(self, self._dtype, ExactSpec)


def round_decimals_out(self: Tensor, *, decimals: int, out: Tensor) -> None:
    array = self._array
    with quiet():
        if decimals < 0:
            scale = array.dtype.type(10.0**-decimals)
            result = np.rint(array / scale) * scale
        else:
            scale = array.dtype.type(10.0**decimals)
            result = np.rint(array * scale) / scale
    store(out, result)


# Operators without a structured kernel, as in ATen.


def _abs_spec(self: Tensor) -> TensorSpec:
    if self._dtype is bool_:
        raise unsupported("abs_cpu", self._dtype)
    if self._dtype.category == COMPLEX:
        return unary_spec(self, self._dtype.to_real())
    return unary_spec(self, self._dtype, ExactSpec)


def abs_out(self: Tensor, *, out: Tensor) -> Tensor:
    if out._dtype.is_complex and out._dtype is not self._dtype:
        raise RuntimeError(
            f"Found dtype {out._dtype.scalar_type} but expected {self._dtype.scalar_type}"
        )
    return finish(out, _abs_spec(self), lambda: run(np.abs, out, self._array))


def abs(self: Tensor) -> Tensor:
    """The magnitude, which is real for a complex tensor."""
    return operators.abs_out(self, out=allocate(_abs_spec(self), self._device.backend))


def abs_(self: Tensor) -> Tensor:
    if self._dtype.category == COMPLEX:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return operators.abs_out(self, out=self)


def logical_not_out(self: Tensor, *, out: Tensor) -> Tensor:
    return finish(out, unary_spec(self, bool_), lambda: run(np.logical_not, out, self._array))


def logical_not(self: Tensor) -> Tensor:
    return operators.logical_not_out(
        self, out=allocate(unary_spec(self, bool_), self._device.backend)
    )


def logical_not_(self: Tensor) -> Tensor:
    return operators.logical_not_out(self, out=self)


def isnan(self: Tensor) -> Tensor:
    result = allocate(unary_spec(self, bool_), self._device.backend)
    if self._device is not meta:
        run(np.not_equal, result, self._array, self._array)
    return result


def isinf(self: Tensor) -> Tensor:
    if self._dtype.category <= INTEGER:
        return operators.ne_Tensor(self, self)
    return operators.eq_Scalar(operators.abs(self), math.inf)


def isfinite(self: Tensor) -> Tensor:
    same = operators.eq_Tensor(self, self)
    if self._dtype.category <= INTEGER:
        return same
    return operators.logical_and(same, operators.ne_Scalar(operators.abs(self), math.inf))


def _relu_spec(self: Tensor) -> TensorSpec:
    if self._dtype is bool_:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self._dtype.category == COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    return unary_spec(self, self._dtype)


def relu(self: Tensor) -> Tensor:
    """max(x, 0); nan stays nan."""
    return relu_into(self, allocate(_relu_spec(self), self._device.backend))


def relu_(self: Tensor) -> Tensor:
    return relu_into(self, self)


def relu_into(self: Tensor, out: Tensor) -> Tensor:
    zero = np.zeros((), self._dtype.numpy)
    return finish(out, _relu_spec(self), lambda: run(np.maximum, out, self._array, zero))


def square(self: Tensor) -> Tensor:
    return operators.pow_Tensor_Scalar(self, 2)


def square_out(self: Tensor, *, out: Tensor) -> Tensor:
    return operators.pow_Tensor_Scalar_out(self, 2, out=out)


def square_(self: Tensor) -> Tensor:
    return operators.pow__Scalar(self, 2)


def positive(self: Tensor) -> Tensor:
    if self._dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self
