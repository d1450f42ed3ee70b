"""Element-wise operators against PyTorch: values, dtypes, shapes, strides, Meta, in-place and out."""

from __future__ import annotations

import itertools

import pytest

from operators.oracle import (
    ALL_DTYPES,
    DTYPES,
    FLOAT_DTYPES,
    Twin,
    compare,
    compare_inplace,
    compare_out,
    is_answered_otherwise,
    layouts,
    operands,
    values,
)

pytestmark = pytest.mark.torch

UNARY = [
    "abs",
    "neg",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "square",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "sign",
    "sgn",
    "signbit",
    "reciprocal",
    "sigmoid",
    "relu",
    "erf",
    "erfc",
    "logical_not",
    "bitwise_not",
    "isnan",
    "isinf",
    "isfinite",
    "positive",
]
UNARY_INPLACE = [
    name for name in UNARY if name not in ("signbit", "isnan", "isinf", "isfinite", "positive")
]
UNARY_OUT = [name for name in UNARY_INPLACE if name not in ("relu", "square")] + ["signbit"]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "remainder",
    "fmod",
    "floor_divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "hypot",
    "copysign",
    "rsub",
]
NO_INPLACE = {"maximum", "minimum", "fmax", "fmin", "rsub"}
WITH_SCALAR = [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "remainder",
    "fmod",
    "floor_divide",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "copysign",
    "rsub",
]
SCALARS = (3, -2, 2.5, True, 1 + 2j)
# These raise an error where an integer is divided by zero; the divisors are made non-zero for the rest.
DIVISIONS = {"remainder", "fmod", "floor_divide", "div"}


def complex_half(a: str, b: str) -> bool:
    """Half with complex gives torch's complex32, which this library doesn't have."""
    return {a, b} in ({"float16", "complex64"}, {"float16", "complex128"})


def divisor(twin: Twin, name: str) -> Twin:
    if name in DIVISIONS and twin.array.dtype.kind in "iu":
        return Twin(twin.array + (twin.array == 0).astype(twin.array.dtype))
    if name == "pow" and twin.array.dtype.kind in "iu":
        return Twin(twin.array % 4)
    return twin


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    for dtype in ALL_DTYPES:
        for twin in operands(dtype, special=True):
            compare(name, twin, tolerance=4.0)


@pytest.mark.parametrize("name", UNARY_INPLACE)
def test_unary_inplace(name: str) -> None:
    for dtype in DTYPES:
        for twin in layouts((2, 3), dtype):
            compare_inplace(name + "_", twin, tolerance=4.0)


@pytest.mark.parametrize("name", UNARY_OUT)
def test_unary_out(name: str) -> None:
    for dtype, to in itertools.product(("int32", "float32", "complex64"), DTYPES):
        for out in ("exact", "empty", "strided"):
            compare_out(name, Twin(values((2, 3), dtype)), dtype=to, out=out, tolerance=4.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary_dtypes(name: str) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        if complex_half(a, b):
            continue
        for left, right in (((2, 3), (2, 3)), ((2, 3), ()), ((), (3,)), ((), ())):
            other = divisor(Twin(values(right, b, 7)), name)
            compare(name, Twin(values(left, a, 3)), other, tolerance=8.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary_shapes_and_strides(name: str) -> None:
    dtype = "int64" if name.startswith("bitwise") else "float32"
    for a, b in itertools.product(layouts((2, 3, 4), dtype), layouts((2, 3, 4), dtype, 9)):
        compare(name, a, divisor(b, name), tolerance=8.0)
    shapes = [((2, 1, 4), (3, 1)), ((0, 3), (3,)), ((1, 3), (2, 0, 1)), ((4,), (3,)), ((1,), (0,))]
    for left, right in shapes:
        other = divisor(Twin(values(right, dtype, 5)), name)
        compare(name, Twin(values(left, dtype)), other, tolerance=8.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary_special_values(name: str) -> None:
    for dtype in FLOAT_DTYPES:
        a = Twin(values((8, 8), dtype, special=True))
        b = Twin(values((8, 8), dtype, special=True).transpose().copy())
        compare(name, a, b, tolerance=8.0)


@pytest.mark.parametrize("name", [name for name in BINARY if name not in NO_INPLACE])
def test_binary_inplace(name: str) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        other = divisor(Twin(values((3,), b, 7)), name)
        compare_inplace(name + "_", Twin(values((2, 3), a, 3)), other, tolerance=8.0)
    for twin in layouts((2, 3), "float32"):
        compare_inplace(name + "_", twin, Twin(values((4, 2, 3), "float32")), tolerance=8.0)


@pytest.mark.parametrize("name", [name for name in BINARY if name != "rsub"])
def test_binary_out(name: str) -> None:
    for dtype, to in itertools.product(("int32", "float32"), DTYPES):
        for out in ("exact", "empty", "strided"):
            other = divisor(Twin(values((3,), dtype, 7)), name)
            compare_out(name, Twin(values((2, 3), dtype)), other, dtype=to, out=out, tolerance=8.0)


@pytest.mark.parametrize("name", WITH_SCALAR)
def test_binary_with_a_number(name: str) -> None:
    for dtype, scalar in itertools.product(ALL_DTYPES, SCALARS):
        if name == "pow" and dtype.startswith(("int", "uint")) and scalar == 3:
            continue
        for shape in ((2, 3), ()):
            twin = Twin(values(shape, dtype))
            if (dtype, scalar) == ("float16", 1 + 2j):
                continue
            compare(name, twin, scalar, tolerance=8.0)
            if name not in NO_INPLACE:
                compare_inplace(name + "_", twin, scalar, tolerance=8.0)


@pytest.mark.parametrize("mode", [None, "trunc", "floor", "ceil"])
def test_division_modes(mode: str | None) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        other = divisor(Twin(values((2, 3), b, 7)), "div")
        compare("div", Twin(values((2, 3), a, 3)), other, rounding_mode=mode, tolerance=8.0)
    for scalar in (2, -3, 0.75):
        compare("div", Twin(values((2, 3), "int32")), scalar, rounding_mode=mode, tolerance=8.0)


@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_alpha(name: str) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        for alpha in (2, 2.5, True, 1j):
            left, right = Twin(values((2, 3), a)), Twin(values((3,), b, 4))
            compare(name, left, right, alpha=alpha, tolerance=8.0)


def test_integer_division_by_zero() -> None:
    zero = Twin(values((2,), "int64") * 0)
    for name in ("remainder", "fmod", "floor_divide"):
        compare(name, Twin(values((2,), "int64")), zero)
    compare("div", Twin(values((2,), "int64")), zero)


def test_pow_of_integers() -> None:
    base, exponent = Twin(values((4, 6), "int64")), Twin(values((4, 6), "int64", 5))
    compare("pow", base, exponent)
    compare("pow", 2, exponent)
    compare("pow", base, -1)
    compare("pow", base, 0.5)
    compare("pow", base, 3)
    compare("pow", 2.5, exponent, tolerance=8.0)
    compare("pow", 1, Twin(values((3,), "float32", special=True)))


@pytest.mark.parametrize("name", ["clamp", "clamp_min", "clamp_max"])
def test_clamp(name: str) -> None:
    limits: list[tuple[object, ...]] = [(1,), (0.5,), (-1.0,)]
    if name == "clamp":
        limits = [(-1, 2), (0.5, None), (None, 1), (2, 1), (None, None)]
    for dtype in ALL_DTYPES:
        for bounds in limits:
            if is_answered_otherwise(name, dtype, *bounds):
                continue
            twin = Twin(values((2, 3), dtype, special=True))
            compare(name, twin, *bounds)
            compare_inplace(name + "_", twin, *bounds)
    for a, b in itertools.product(DTYPES, DTYPES):
        low = [Twin(values((3,), b, 3))]
        high = [Twin(values((2, 1), b, 4))] if name == "clamp" else []
        compare(name, Twin(values((2, 3), a)), *low, *high)


def test_lerp() -> None:
    for dtype in (*FLOAT_DTYPES, "complex64", "int64"):
        a, b = Twin(values((2, 3), dtype)), Twin(values((3,), dtype, 2))
        for weight in (0.25, 0.75, 1, Twin(values((2, 1), dtype, 8))):
            compare("lerp", a, b, weight, tolerance=8.0)
            compare_inplace("lerp_", a, b, weight, tolerance=8.0)
    compare("lerp", Twin(values((2,), "float32")), Twin(values((2,), "float64")), 0.5)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_addcmul(name: str) -> None:
    for a, b in itertools.product(DTYPES, DTYPES):
        for value in (1, 3, 0.5):
            operand = Twin(values((2, 3), a))
            factors = Twin(values((3,), b, 2)), divisor(Twin(values((2, 1), b, 4)), "div")
            compare(name, operand, *factors, value=value, tolerance=16.0)
            compare_inplace(name + "_", operand, *factors, value=value, tolerance=16.0)


def test_round_with_decimals() -> None:
    for dtype in FLOAT_DTYPES:
        for decimals in (0, 2, -1):
            compare("round", Twin(values((4, 5), dtype) * 10), decimals=decimals)


def test_isclose() -> None:
    for dtype in DTYPES:
        a = Twin(values((3, 4), dtype, special=True))
        compare("isclose", a, a)
        compare("isclose", a, a, equal_nan=True)
        compare("isclose", a, Twin(values((4,), dtype, 1)), rtol=0.5, atol=1.0)
        assert_scalar("allclose", a, a)
        assert_scalar("equal", a, a)
        assert_scalar("equal", a, Twin(values((4,), dtype, 1)))


def assert_scalar(name: str, a: Twin, b: Twin) -> None:
    import torch

    import torchgen_lite_reference as tl

    assert getattr(tl, name)(a.ours(), b.ours()) == getattr(torch, name)(a.theirs(), b.theirs())
