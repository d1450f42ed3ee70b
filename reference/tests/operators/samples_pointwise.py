"""Samples for the element-wise operators."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Input,
    Sample,
    booleans,
    complexes,
    every_second,
    floats,
    given,
    integers,
    probabilities,
    sample,
    samples,
    swapped,
)

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
    "erf",
    "erfc",
    "logical_not",
    "bitwise_not",
    "isnan",
    "isinf",
    "isfinite",
    "positive",
    "relu",
    "relu6",
    "selu",
    "celu",
    "silu",
    "mish",
    "elu",
    "leaky_relu",
    "softplus",
    "hardsigmoid",
    "hardshrink",
    "softshrink",
    "hardtanh",
    "hardswish",
    "log_sigmoid",
]

BINARY = [
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "remainder.Tensor",
    "fmod.Tensor",
    "floor_divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "hypot",
    "copysign.Tensor",
    "rsub.Tensor",
    "eq.Tensor",
    "ne.Tensor",
    "lt.Tensor",
    "le.Tensor",
    "gt.Tensor",
    "ge.Tensor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and.Tensor",
    "bitwise_or.Tensor",
    "bitwise_xor.Tensor",
    "bitwise_left_shift.Tensor",
    "bitwise_right_shift.Tensor",
    "max.other",
    "min.other",
]

SCALAR = [
    "add.Scalar",
    "sub.Scalar",
    "mul.Scalar",
    "div.Scalar",
    "remainder.Scalar",
    "fmod.Scalar",
    "floor_divide.Scalar",
    "copysign.Scalar",
    "rsub.Scalar",
    "eq.Scalar",
    "ne.Scalar",
    "lt.Scalar",
    "le.Scalar",
    "gt.Scalar",
    "ge.Scalar",
    "bitwise_and.Scalar",
    "bitwise_or.Scalar",
    "bitwise_xor.Scalar",
    "bitwise_left_shift.Tensor_Scalar",
    "bitwise_right_shift.Tensor_Scalar",
    "pow.Tensor_Scalar",
    "clamp_min",
    "clamp_max",
]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, -30.0, float("inf"), -float("inf"), float("nan")]


@samples(*UNARY)
def unary() -> Iterator[Sample]:
    for dtype in ("float32", "float64", "float16"):
        yield sample(floats(2, 3, dtype=dtype))
    yield sample(given(SPECIAL, "float32"))
    yield sample(floats(2, 3, 4).seen(swapped))
    yield sample(floats(3, 4).seen(every_second))
    yield sample(floats())
    yield sample(floats(0, 3))
    yield sample(integers(2, 3, low=-3))
    yield sample(integers(3, dtype="uint8"))
    yield sample(booleans(4))
    yield sample(complexes(2, 2))


def _pairs() -> Iterator[tuple[Input, Input]]:
    for dtype in ("float32", "float64", "float16"):
        yield floats(2, 3, dtype=dtype), floats(2, 3, dtype=dtype, seed=1)
    yield floats(2, 1), floats(3, seed=1)
    yield floats(4, 3).T, floats(4, 3, seed=1).T
    yield floats(4, 3).T, floats(3, 4, seed=1)
    yield floats(2, 3), floats(seed=1)
    yield floats(dtype="float64"), floats(2, 2, seed=1)
    yield floats(), floats(seed=1)
    yield floats(0, 3), floats(3, seed=1)
    yield integers(2, 3, low=-4), floats(2, 3, seed=1)
    yield integers(2, 3, low=-4), integers(3, low=1, seed=1)
    yield integers(4, low=-4, dtype="int32"), integers(4, low=-4, high=0, seed=1)
    yield integers(3, dtype="uint8"), integers(3, low=1, dtype="int8", seed=1)
    yield booleans(4), booleans(4, seed=1)
    yield booleans(4), integers(4, low=1, seed=1)
    yield given(SPECIAL, "float32"), given(SPECIAL[::-1], "float32")
    yield complexes(2, 2), complexes(2, 2, seed=1)


@samples(*BINARY)
def binary() -> Iterator[Sample]:
    for first, second in _pairs():
        yield sample(first, second)


@samples("add.Tensor", "sub.Tensor", "rsub.Tensor")
def with_alpha() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3, seed=1), alpha=2.5)
    yield sample(integers(2, 3), integers(3, seed=1), alpha=-2)


@samples("div.Tensor_mode")
def rounded_division() -> Iterator[Sample]:
    for mode in ("trunc", "floor", None):
        for first, second in _pairs():
            yield sample(first, second, rounding_mode=mode)


@samples("div.Scalar_mode")
def rounded_scalar_division() -> Iterator[Sample]:
    for mode in ("trunc", "floor", None):
        yield sample(floats(2, 3), 1.5, rounding_mode=mode)
        yield sample(integers(2, 3, low=-5), -2, rounding_mode=mode)


@samples(*SCALAR)
def with_scalar() -> Iterator[Sample]:
    for number in (2, -1.5, True):
        yield sample(floats(2, 3), number)
        yield sample(floats(4, 3, dtype="float64").T, number)
        yield sample(integers(3, low=-3), number)
        yield sample(floats(), number)
        yield sample(floats(0), number)
        yield sample(booleans(4), number)


@samples("bitwise_and.Scalar_Tensor", "bitwise_or.Scalar_Tensor", "bitwise_xor.Scalar_Tensor")
def scalar_first_bits() -> Iterator[Sample]:
    yield sample(6, integers(4))
    yield sample(True, booleans(4))


@samples("bitwise_left_shift.Scalar_Tensor", "bitwise_right_shift.Scalar_Tensor")
def scalar_first_shifts() -> Iterator[Sample]:
    yield sample(6, integers(4))
    yield sample(-6, integers(4, low=-1))
    yield sample(200, integers(4, dtype="uint8"))


@samples("bitwise_left_shift.Tensor", "bitwise_right_shift.Tensor")
def shifts_past_the_end() -> Iterator[Sample]:
    for dtype, bits in (("int64", 64), ("int8", 8), ("uint8", 8)):
        count = given([0, 1, bits - 1, bits, bits + 1, 100], dtype)
        yield sample(given([1, 3, 5, 7, 100, 100], dtype), count)
    yield sample(given([-1, -8, 8], "int64"), given([63, 64, -1], "int64"))


@samples("remainder.Scalar_Tensor")
def scalar_first_remainder() -> Iterator[Sample]:
    yield sample(7, integers(4, low=1))
    yield sample(7.5, floats(4))


@samples("pow.Tensor_Tensor")
def power() -> Iterator[Sample]:
    yield sample(floats(2, 3, low=0.1), floats(2, 3, seed=1))
    yield sample(integers(4), integers(4, seed=1))
    yield sample(floats(2, 1), integers(3, seed=1))
    yield sample(floats(0), floats(0))
    yield sample(floats(low=0.5), floats(seed=1))


@samples("pow.Scalar")
def power_of_scalar() -> Iterator[Sample]:
    yield sample(2, integers(4))
    yield sample(2.5, floats(2, 3))
    yield sample(2, floats())


@samples("pow.Tensor_Scalar")
def power_special() -> Iterator[Sample]:
    yield sample(floats(2, 3, low=0.1), 0.5)
    yield sample(integers(2, 3), 3)
    yield sample(floats(2, 3), 2)


@samples("round.decimals")
def rounding() -> Iterator[Sample]:
    yield sample(floats(2, 3), decimals=2)
    yield sample(floats(2, 3, dtype="float64"), decimals=-1)


@samples("clamp")
def clamp() -> Iterator[Sample]:
    yield sample(floats(2, 3), -1.0, 1.0)
    yield sample(floats(4, 3).T, -1, None)
    yield sample(integers(4, low=-4), None, 2)
    yield sample(integers(4, low=-4), -1.5, 2)
    yield sample(given(SPECIAL, "float32"), -1, 1)
    yield sample(floats(0), 0, 1)


@samples("clamp.Tensor")
def clamp_by_tensors() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1), floats(2, 1, seed=2))
    yield sample(floats(2, 3), None, floats(seed=2))
    yield sample(integers(2, 3), integers(3, seed=1), None)


@samples("clamp_min.Tensor", "clamp_max.Tensor")
def clamp_by_tensor() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1))
    yield sample(integers(2, 3), floats(3, seed=1))
    yield sample(floats(), floats(seed=1))


@samples("lerp.Scalar")
def lerp_scalar() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1), 0.3)
    yield sample(floats(2, 3, dtype="float64"), floats(2, 3, dtype="float64", seed=1), 0.8)


@samples("lerp.Tensor")
def lerp_tensor() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1), probabilities(2, 3))
    yield sample(floats(), floats(seed=1), probabilities())


@samples("addcmul", "addcdiv")
def fused() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1), floats(2, 1, seed=2))
    yield sample(floats(2, 3), floats(2, 3, seed=1), floats(2, 3, seed=2, low=1), value=-0.5)
    yield sample(integers(2, 3), integers(3, seed=1), integers(3, seed=2, low=1), value=2)


@samples("isclose", "allclose")
def closeness() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3))
    yield sample(floats(2, 3), floats(3, seed=1), 0.5, 0.1)
    yield sample(given(SPECIAL, "float32"), given(SPECIAL, "float32"), equal_nan=True)
    yield sample(integers(4), integers(4))


@samples("equal")
def equality() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3))
    yield sample(floats(2, 3), floats(3, 2))
    yield sample(integers(4), integers(4, seed=3))


@samples("celu")
def celu() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0.7)


@samples("elu")
def elu() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0.7, 1.5, 2.0)


@samples("leaky_relu", "hardshrink", "softshrink")
def one_parameter() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0.2)


@samples("softplus")
def softplus() -> Iterator[Sample]:
    yield sample(floats(2, 3), 2, 3)


@samples("threshold")
def threshold() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0.1, 20.0)
    yield sample(integers(4), 2, 7)
    yield sample(given(SPECIAL, "float32"), 0.0, 5.0)


@samples("hardtanh")
def hardtanh() -> Iterator[Sample]:
    yield sample(floats(2, 3), -0.5, 2.0)
    yield sample(integers(4, low=-4), -2, 2)


@samples("gelu")
def gelu() -> Iterator[Sample]:
    for approximate in ("none", "tanh"):
        yield sample(floats(2, 3), approximate=approximate)
        yield sample(floats(4, 3, dtype="float64").T, approximate=approximate)
        yield sample(floats(5, dtype="float16"), approximate=approximate)
        yield sample(floats(), approximate=approximate)
        yield sample(floats(0, 3), approximate=approximate)


@samples("glu")
def glu() -> Iterator[Sample]:
    yield sample(floats(2, 6))
    yield sample(floats(4, 3), 0)
    yield sample(floats(4, 6).T, 0)


@samples("where.self")
def where() -> Iterator[Sample]:
    yield sample(booleans(2, 3), floats(2, 3), floats(3, seed=1))
    yield sample(booleans(4, 3).T, floats(4, 3).T, floats(4, 3, seed=1).T)
    yield sample(booleans(2, 3), integers(2, 3), floats(seed=1))
    yield sample(booleans(), floats(), floats(seed=1))
    yield sample(booleans(0, 3), floats(3), floats(seed=1))


@samples("where.ScalarSelf")
def where_scalar_self() -> Iterator[Sample]:
    yield sample(booleans(2, 3), 2.5, integers(2, 3))
    yield sample(booleans(3), 1, floats(2, 3))


@samples("where.ScalarOther")
def where_scalar_other() -> Iterator[Sample]:
    yield sample(booleans(2, 3), integers(2, 3), 2.5)
    yield sample(booleans(3), floats(2, 3), True)


@samples("where.Scalar")
def where_scalars() -> Iterator[Sample]:
    yield sample(booleans(2, 3), 1, 2.5)
    yield sample(booleans(2, 3), 1, 2)


@samples("where", "nonzero")
def coordinates() -> Iterator[Sample]:
    yield sample(booleans(3, 4))
    yield sample(integers(2, 3, 2, high=2))
    yield sample(floats(0, 3))
    yield sample(given(2.0, "float32"))


@samples("conj_physical", "_conj_physical", "real")
def of_any_number() -> Iterator[Sample]:
    yield sample(complexes(2, 3))
    yield sample(complexes(2, 3, dtype="complex128").T)
    yield sample(complexes(4, 3).seen(every_second))
    yield sample(complexes())
    yield sample(complexes(0, 3))
    yield sample(floats(2, 3))
    yield sample(integers(2, 3))


@samples("imag", "view_as_real")
def of_complex_numbers() -> Iterator[Sample]:
    yield sample(complexes(2, 3))
    yield sample(complexes(2, 3, dtype="complex128").T)
    yield sample(complexes(4, 3).seen(every_second))
    yield sample(complexes())
    yield sample(complexes(0, 3))
    yield sample(floats(2, 3))


@samples("view_as_complex")
def of_pairs() -> Iterator[Sample]:
    yield sample(floats(3, 2))
    yield sample(floats(4, 3, 2, dtype="float64").seen(every_second))
    yield sample(floats(2))
    yield sample(floats(0, 2))
    yield sample(floats(3, 3))
    yield sample(floats(2, 2).T)
    yield sample(floats())
    yield sample(integers(3, 2))
