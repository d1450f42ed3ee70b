"""Default values as Python values."""

from __future__ import annotations

import math

import pytest

from torchgen_lite.schema import FunctionSchema, NamedConstant, default_value


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("int x=1", 1),
        ("SymInt x=-3", -3),
        ("float x=1", 1.0),
        ("float x=0.5", 0.5),
        ("float x=1e-05", 1e-05),
        ("float x=inf", math.inf),
        ("float x=-inf", -math.inf),
        ('float x=float("-inf")', -math.inf),
        ("complex x=2j", 2j),
        ("bool x=True", True),
        ("bool x=0", False),
        ("Tensor? x=None", None),
        ('str x="a\\nb"', "a\nb"),
        ("str x='it'", "it"),
        ("int[2] x=1", 1),
        ("int[] x=[]", []),
        ("int[2] x=[0, 1]", [0, 1]),
        ("float[] x=[1, 2.5]", [1.0, 2.5]),
        ("bool[2] x=[True, False]", [True, False]),
        ("int[] x=[-1,-2]", [-1, -2]),
        ("MemoryFormat? x=contiguous_format", NamedConstant("contiguous_format")),
        ("int reduction=Mean", NamedConstant("Mean")),
    ],
)
def test_value(argument: str, value: object) -> None:
    result = default_value(FunctionSchema.parse(f"f({argument}) -> ()").arguments[0])
    assert result == value
    assert type(result) is type(value)


def test_an_argument_without_default_has_none_to_give() -> None:
    with pytest.raises(ValueError, match="x has no default"):
        default_value(FunctionSchema.parse("f(int x) -> ()").arguments[0])
