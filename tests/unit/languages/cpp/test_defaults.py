"""Defaults as libtorch spells them; tests/cpp/test_defaults.py compiles and compares them."""

from __future__ import annotations

import pytest

from torchgen_lite.languages.cpp.defaults import TORCH, default_of
from torchgen_lite.schema import parse_schema


@pytest.mark.parametrize(
    ("argument", "expression"),
    [
        ("ScalarType x=float32", "at::ScalarType::Float"),
        ("ScalarType? x=qint8", "at::ScalarType::QInt8"),
        ("ScalarType x=4", "static_cast<at::ScalarType>(4)"),
        ("Layout x=strided", "at::Layout::Strided"),
        ("MemoryFormat? x=contiguous_format", "at::MemoryFormat::Contiguous"),
        ('Device x="cuda:1"', 'at::Device("cuda:1")'),
        ("int x=Mean", "at::Reduction::Mean"),
        ("int x=long", "4"),
        ("int x=7", "7"),
        ("int x=-9223372036854775808", "INT64_MIN"),
        ("int? x=None", "::std::nullopt"),
        ("Tensor? x=None", "{}"),
        ("int[2] x=3", "{3, 3}"),
        ("int[] x=[long, 2]", "{4, 2}"),
        ("int[]? x=[1]", "{1}"),
        ("bool[2] x=True", "{true, true}"),
        ("float x=99999999999999999999", "1e+20"),
        ("float[] x=[0.5, 1]", "{0.5, 1.0}"),
        ("float x=inf", "::std::numeric_limits<double>::infinity()"),
        ("Scalar x=1.5j", "c10::complex<double>(0.0, 1.5)"),
        ("str x='a'", '"a"'),
        ("str[] x=['a', \"b\"]", '{"a", "b"}'),
        ("int x", None),
    ],
)
def test_expressions(argument: str, expression: str | None) -> None:
    schema, _ = parse_schema(f"f({argument}) -> ()")
    assert schema is not None
    found = default_of(schema.arguments[0], TORCH)
    assert (found and found.text) == expression


def test_a_limit_brings_its_header() -> None:
    schema, _ = parse_schema("f(float[] x=[0, -inf]) -> ()")
    assert schema is not None
    found = default_of(schema.arguments[0], TORCH)
    assert found is not None and found.headers == ("limits",)
