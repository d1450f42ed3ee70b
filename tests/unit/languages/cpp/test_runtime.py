"""A schema's types and defaults in a framework's C++."""

from __future__ import annotations

import pytest

from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.types import CType, Expression, const_ref
from torchgen_lite.schema import FunctionSchema

TYPES = Types(
    CType("toy::Tensor"),
    {
        "Device": CType("toy::Device"),
        "Generator": const_ref(CType("toy::Generator")),
        "Stream": CType("toy::Stream", suffix="*"),
    },
    {"cpu": Expression("toy::Device::CPU")},
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Tensor", "const toy::Tensor&"),
        ("Tensor(a)", "const toy::Tensor&"),
        ("Tensor(a!)", "toy::Tensor&"),
        ("Tensor?", "const ::std::optional<toy::Tensor>&"),
        ("Tensor(a!)?", "::std::optional<toy::Tensor>&"),
        ("Tensor[]", "torchgen_lite::Span<toy::Tensor>"),
        ("Tensor?[]", "torchgen_lite::Span<::std::optional<toy::Tensor>>"),
        ("Tensor[]?", "::std::optional<torchgen_lite::Span<toy::Tensor>>"),
        ("Tensor(a!)[]", "::std::vector<toy::Tensor>&"),
        ("int", "int64_t"),
        ("SymInt[]", "torchgen_lite::Span<int64_t>"),
        ("int[2]?", "::std::optional<torchgen_lite::Span<int64_t>>"),
        ("int[][]", "torchgen_lite::Span<::std::vector<int64_t>>"),
        ("Scalar?", "::std::optional<double>"),
        ("str", "::std::string_view"),
        ("complex", "::std::complex<double>"),
        ("Device", "toy::Device"),
        ("Generator", "const toy::Generator&"),
        ("Generator?", "const ::std::optional<toy::Generator>&"),
        ("Stream", "toy::Stream*"),
        ("Stream?", "::std::optional<toy::Stream*>"),
    ],
)
def test_arguments(written: str, expected: str) -> None:
    (argument,) = FunctionSchema.parse(f"f({written} x) -> ()").arguments
    assert str(runtime.argument_type(argument, TYPES)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("()", "void"),
        ("Tensor", "toy::Tensor"),
        ("Tensor(a!)", "toy::Tensor&"),
        ("Tensor[]", "::std::vector<toy::Tensor>"),
        ("(Tensor, int?)", "::std::tuple<toy::Tensor, ::std::optional<int64_t>>"),
        ("str[]", "::std::vector<::std::string>"),
        ("Generator", "toy::Generator"),
    ],
)
def test_results(written: str, expected: str) -> None:
    assert (
        str(runtime.returns_type(FunctionSchema.parse(f"f(Tensor(a!) x) -> {written}"), TYPES))
        == expected
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("int x=-9223372036854775808", "INT64_MIN"),
        ("float x=1", "1.0"),
        ("float x=-inf", "-::std::numeric_limits<double>::infinity()"),
        ("float x=nan", "::std::numeric_limits<double>::quiet_NaN()"),
        ("Scalar x=True", "true"),
        ("bool x=False", "false"),
        ('str x="a\\"b"', '"a\\"b"'),
        ("int[2] x=1", "{1, 1}"),
        ("int[2]? x=[0,1]", "torchgen_lite::Span<int64_t>({0, 1})"),
        ("int[]? x=None", "::std::nullopt"),
        ("int x=Sum", "2"),
        ('Device x="cpu"', "toy::Device::CPU"),
        # The framework has no expression for these, so callers have to pass a value.
        ('Device x="cuda"', None),
        ("Layout x=3", None),
        ("Tensor x", None),
    ],
)
def test_defaults(written: str, expected: str | None) -> None:
    (argument,) = FunctionSchema.parse(f"f({written}) -> ()").arguments
    found = runtime.default_expression(argument, TYPES)
    assert (found and found.text) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("complex x=1j", "::std::complex<double>(0.0, 1.0)"),
        ("complex? x=-2.5j", "::std::complex<double>(0.0, -2.5)"),
        ("complex[1] x=1j", "{::std::complex<double>(0.0, 1.0)}"),
        ("complex x=2", "2"),
        # A `double` has no imaginary part: callers have to say something else.
        ("Scalar x=1j", None),
        ("Scalar? x=1j", None),
    ],
)
@pytest.mark.parametrize("is_given", [False, True])
def test_imaginary_defaults(written: str, expected: str | None, is_given: bool) -> None:
    """A type of the framework's is made in a way that only the framework knows."""
    (argument,) = FunctionSchema.parse(f"f({written}) -> ()").arguments
    types = Types(CType("toy::Tensor"), {"complex": CType("toy::Complex")} if is_given else {})
    default = runtime.default_expression(argument, types)
    assert (default and str(default)) == (None if is_given and "j" in written else expected)


def test_what_stands_before_an_argument_without_a_default_has_none() -> None:
    schema = FunctionSchema.parse('f(Tensor self, int a=1, Device b="cuda", int c=2) -> Tensor')
    found = runtime.arguments(schema.arguments, TYPES)
    assert [p.default and p.default.text for p in found] == [None, None, None, "2"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [("Tensor?[]", None), ("Device[]", None), ("Layout[]?", "Layout"), ("Any", "Any")],
)
def test_missing_types(written: str, expected: str | None) -> None:
    (argument,) = FunctionSchema.parse(f"f({written} x) -> ()").arguments
    assert runtime.missing(argument.type, TYPES) == expected
