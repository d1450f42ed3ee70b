# ruff: noqa: N816  (the names hold ATen's overload names)
"""Element-wise arithmetic of two tensors: add, sub, mul, div, pow, maximum, bitwise and others.

Both operands are converted to `result_type` before NumPy sees them, because NumPy's own promotion differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.dtype import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    bool_,
    dtype,
    float32,
    float64,
    of_numpy,
)
from torchgen_lite_reference.kernels.common import (
    BinaryImpl,
    BinaryMeta,
    as_tensor,
    binary_spec,
    finish,
    operand,
    operands,
    pointwise_spec,
    run,
    store,
    unsupported,
)
from torchgen_lite_reference.kernels.elements import element
from torchgen_lite_reference.promotion import common_type, float_type, result_type
from torchgen_lite_reference.silence import Compute, converted, quiet, silently
from torchgen_lite_reference.storage import Array
from torchgen_lite_reference.structured import TensorSpec, allocate
from torchgen_lite_reference.tensor import Number, Tensor

_INVERT_MASK = (
    " If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
)


def _meta(name: str, low: int = BOOL, high: int = COMPLEX) -> BinaryMeta:
    """The result has the common dtype, whose category must lie between `low` and `high`."""

    def meta_common(self: Tensor, other: Tensor, /) -> TensorSpec:
        common = common_type(self, other)
        if not low <= common.category <= high:
            raise unsupported(name, common)
        return binary_spec(common, self, other)

    return meta_common


def _float_meta(name: str, high: int = FLOATING) -> BinaryMeta:
    def meta_float(self: Tensor, other: Tensor, /) -> TensorSpec:
        common = float_type(common_type(self, other))
        if common.category > high:
            raise unsupported(name, common)
        return binary_spec(common, self, other)

    return meta_float


def _ufunc(ufunc: Compute) -> BinaryImpl:
    def impl(self: Tensor, other: Tensor, /, *, out: Tensor) -> None:
        run(ufunc, out, *operands(self, other))

    return impl


def _float_ufunc(ufunc: Compute) -> BinaryImpl:
    def impl(self: Tensor, other: Tensor, /, *, out: Tensor) -> None:
        common = float_type(common_type(self, other)).numpy
        run(ufunc, out, operand(self, common), operand(other, common))

    return impl


meta_mul_Tensor = _meta("mul_cpu")
meta_div_Tensor = _float_meta("div_true_cpu", COMPLEX)
meta_maximum = _meta("maximum", high=FLOATING)
meta_minimum = _meta("minimum", high=FLOATING)
meta_fmax = _meta("fmax", high=FLOATING)
meta_fmin = _meta("fmin", high=FLOATING)
meta_atan2 = _float_meta("atan2")
meta_copysign_Tensor = _float_meta("copysign")
meta_hypot = _meta("hypot_cpu", FLOATING, FLOATING)
meta_remainder_Tensor = _meta("remainder_cpu", INTEGER, FLOATING)
meta_fmod_Tensor = _meta("fmod_cpu", INTEGER, FLOATING)
meta_bitwise_and_Tensor = _meta("bitwise_and_cpu", high=INTEGER)
meta_bitwise_or_Tensor = _meta("bitwise_or_cpu", high=INTEGER)
meta_bitwise_xor_Tensor = _meta("bitwise_xor_cpu", high=INTEGER)
meta_bitwise_left_shift_Tensor = _meta("lshift_cpu", INTEGER, INTEGER)
meta_bitwise_right_shift_Tensor = _meta("rshift_cpu", INTEGER, INTEGER)
meta_pow_Tensor_Tensor = _meta("pow", INTEGER)

mul_out = _ufunc(np.multiply)
div_out = _float_ufunc(np.true_divide)
maximum_out = _ufunc(np.maximum)
minimum_out = _ufunc(np.minimum)
fmax_out = _ufunc(np.fmax)
fmin_out = _ufunc(np.fmin)
atan2_out = _float_ufunc(np.arctan2)
copysign_out = _float_ufunc(np.copysign)
hypot_out = _ufunc(np.hypot)
bitwise_and_out = _ufunc(np.bitwise_and)
bitwise_or_out = _ufunc(np.bitwise_or)
bitwise_xor_out = _ufunc(np.bitwise_xor)
bitwise_left_shift_out = _ufunc(np.left_shift)
bitwise_right_shift_out = _ufunc(np.right_shift)


def check_alpha(common: dtype, alpha: Number) -> None:
    """ATen `alpha_check`: alpha may not be of a higher category than the result."""
    if isinstance(alpha, bool):
        if common is not bool_:
            raise RuntimeError("Boolean alpha only supported for Boolean results.")
    elif isinstance(alpha, complex):
        if common.category != COMPLEX:
            raise RuntimeError(
                "For non-complex input tensors, argument alpha must not be a complex number."
            )
    elif isinstance(alpha, float) and common.category <= INTEGER:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )


def check_sub(self: Tensor, other: Tensor) -> None:
    if self._dtype is bool_ or other._dtype is bool_:
        if self._dtype is other._dtype:
            raise RuntimeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^`"
                " or `logical_xor()` operator instead."
            )
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported." + _INVERT_MASK
        )


def meta_add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> TensorSpec:
    common = common_type(self, other)
    if alpha != 1 or type(alpha) is not int:
        check_alpha(common, alpha)
    return binary_spec(common, self, other)


def meta_sub_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> TensorSpec:
    check_sub(self, other)
    return meta_add_Tensor(self, other, alpha=alpha)


def ufunc_add_CPU(self: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor) -> None:
    if alpha == 1:
        run(np.add, out, *operands(self, other))
    else:
        _run_scaled(np.add, self, other, alpha, out)


def sub_out(self: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor) -> None:
    if alpha == 1:
        run(np.subtract, out, *operands(self, other))
    else:
        _run_scaled(np.subtract, self, other, alpha, out)


def _run_scaled(ufunc: Compute, self: Tensor, other: Tensor, alpha: Number, out: Tensor) -> None:
    """self + alpha * other, rounded once: half precision is computed in single."""
    common = common_type(self, other).numpy
    wide = np.dtype(np.float32) if common == np.float16 else common
    scale = element(alpha, of_numpy(common)).astype(wide)
    with quiet():
        scaled = operand(other, wide) * scale
    run(ufunc, out, operand(self, wide), scaled)


# Division with a rounding mode, remainders.


def _rounded_type(self: Tensor, other: Tensor, rounding_mode: str | None) -> dtype:
    if rounding_mode is None:
        return float_type(common_type(self, other))
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found"
            f" '{rounding_mode}'"
        )
    common = common_type(self, other)
    if common.category in (BOOL, COMPLEX):
        raise unsupported(f"div_{rounding_mode}_cpu", common)
    return common


def meta_div_Tensor_mode(self: Tensor, other: Tensor, *, rounding_mode: str | None) -> TensorSpec:
    return pointwise_spec(_rounded_type(self, other, rounding_mode), self, other)


def div_out_mode(self: Tensor, other: Tensor, *, rounding_mode: str | None, out: Tensor) -> None:
    common = _rounded_type(self, other, rounding_mode).numpy
    a, b = operand(self, common), operand(other, common)
    if rounding_mode is None:
        run(np.true_divide, out, a, b)
    elif rounding_mode == "floor":
        run(np.floor_divide, out, a, _divisor(a, b))
    else:
        store(out, _truncated_quotient(a, b))


def _divisor(a: Array, b: Array) -> Array:
    """Integers cannot be divided by zero; ATen's kernels raise this error if there are any elements."""
    if b.dtype.kind in "iu" and a.size and not b.all():
        raise RuntimeError("ZeroDivisionError")
    return b


def _truncated_quotient(a: Array, b: Array) -> Any:
    with quiet():
        if b.dtype.kind == "f":
            return np.trunc(a / b)
        floored = np.floor_divide(a, _divisor(a, b))
        inexact = (floored * b != a) & ((a < 0) != (b < 0))
        return floored + inexact.astype(a.dtype)


def remainder_out(self: Tensor, other: Tensor, *, out: Tensor) -> None:
    """The remainder that has the sign of the divisor, as Python's %."""
    common = common_type(self, other).numpy
    dividend = operand(self, common)
    divisor = _divisor(dividend, operand(other, common))
    if common.kind != "f":
        run(np.remainder, out, dividend, divisor)
        return
    result = silently(np.remainder, dividend, divisor)
    # A zero has the sign of the dividend, as in C; in NumPy it has that of the divisor.
    store(out, np.where(result == 0, np.copysign(result, dividend), result))


def fmod_out(self: Tensor, other: Tensor, *, out: Tensor) -> None:
    """The remainder that has the sign of the dividend, as C's %."""
    common = common_type(self, other).numpy
    dividend = operand(self, common)
    run(np.fmod, out, dividend, _divisor(dividend, operand(other, common)))


def floor_divide_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    spec = meta_div_Tensor_mode(self, other, rounding_mode="floor")
    return finish(out, spec, lambda: div_out_mode(self, other, rounding_mode="floor", out=out))


def floor_divide(self: Tensor, other: Tensor | Number) -> Tensor:
    """Rounds toward minus infinity (kernel of the Tensor and of the Scalar overload)."""
    if not isinstance(other, Tensor):
        return operators.floor_divide(self, as_tensor(other))
    spec = meta_div_Tensor_mode(self, other, rounding_mode="floor")
    return floor_divide_out(self, other, out=allocate(spec, self._device.backend))


def floor_divide_(self: Tensor, other: Tensor | Number) -> Tensor:
    if not isinstance(other, Tensor):
        return operators.floor_divide__Tensor(self, as_tensor(other))
    return operators.div__Tensor_mode(self, other, rounding_mode="floor")


# Powers.


def power(base: Array, exponent: Array) -> Any:
    """base ** exponent for arrays of one dtype. An integer to a negative power is 0, 1 or -1."""
    with quiet():
        if base.dtype.kind != "i" or not (exponent < 0).any():
            return np.power(base, exponent)
        negative = exponent < 0
        result = np.power(base, np.where(negative, 0, exponent).astype(base.dtype))
        odd = np.where(exponent % 2 == 0, 1, -1)
        small = np.where(base == 1, 1, np.where(base == -1, odd, 0))
        return np.where(negative, small, result)


def pow_Tensor_Tensor_out(self: Tensor, exponent: Tensor, *, out: Tensor) -> None:
    common = common_type(self, exponent).numpy
    store(out, power(operand(self, common), operand(exponent, common)))


def meta_pow_Tensor_Scalar(self: Tensor, exponent: Number) -> TensorSpec:
    common = result_type(self, exponent)
    whole = isinstance(exponent, int) and self._dtype.category <= INTEGER
    if whole and exponent < 0:  # type: ignore[operator]
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return pointwise_spec(common, self)


def pow_Tensor_Scalar_out(self: Tensor, exponent: Number, *, out: Tensor) -> None:
    result = result_type(self, exponent)
    common = result.numpy
    base = operand(self, common)
    if common.kind == "b":
        # Only for bool: true if the base is true or the exponent is False.
        store(out, base if exponent else True)
    elif exponent == 0.5 and common.kind in "fc":
        run(np.sqrt, out, base)
    elif exponent == 2:
        run(np.square, out, base)
    else:
        store(out, power(base, element(exponent, float64 if result is float32 else result)))


def meta_pow_Scalar(self: Number, exponent: Tensor) -> TensorSpec:
    common = result_type(self, exponent)
    if common is bool_:
        raise unsupported("pow", common)
    return pointwise_spec(common, exponent)


def pow_Scalar_out(self: Number, exponent: Tensor, *, out: Tensor) -> None:
    common = result_type(self, exponent).numpy
    base = converted(np.asarray(self), common)
    if self == 1:
        store(out, base)
    else:
        store(out, power(base, operand(exponent, common)))


def rsub(self: Tensor, other: Tensor | Number, alpha: Number = 1) -> Tensor:
    """other - alpha * self (kernel of the Tensor and of the Scalar overload)."""
    return operators.sub_Tensor(as_tensor(other), self, alpha=alpha)
