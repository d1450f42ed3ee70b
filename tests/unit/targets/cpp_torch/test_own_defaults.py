"""Defaults of operators that are not PyTorch's, as C++; tests/cpp/test_defaults.py compiles and compares them."""

from __future__ import annotations

import pytest

from torchgen_lite.schema import parse_schema
from torchgen_lite.targets.cpp_torch.defaults import own_default


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
        ("int x=-9223372036854775808", "INT64_MIN"),
        ("int[2] x=3", "{3, 3}"),
        ("int[] x=[long, 2]", "{4, 2}"),
        ("bool[2] x=True", "{true, true}"),
        ("float x=99999999999999999999", "1e+20"),
        ("Scalar x=1.5j", "c10::complex<double>(0.0, 1.5)"),
        ("complex[] x=[1j]", None),
        ("int x=7", "the dialect's"),
        ("str x='a'", "the dialect's"),
        ("int? x=None", "the dialect's"),
    ],
)
def test_expressions(argument: str, expression: str | None) -> None:
    schema, _ = parse_schema(f"f({argument}) -> ()")
    assert schema is not None
    assert own_default(schema.arguments[0], "the dialect's") == expression
