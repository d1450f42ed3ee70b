"""C++ types as values: types made from them, and the headers that they need."""

from __future__ import annotations

import doctest

import pytest

from torchgen_lite.languages.cpp import defaults, signature, torch_types, types
from torchgen_lite.languages.cpp.signature import (
    CppParameter,
    CppSignature,
    default_headers,
    signature_headers,
    trailing_defaults,
)
from torchgen_lite.languages.cpp.torch_types import Conventions, argument_type, kept, owned
from torchgen_lite.languages.cpp.types import (
    INT64,
    VOID,
    CType,
    Expression,
    bare,
    const_ref,
    ref,
    std,
    tuple_of,
)
from torchgen_lite.schema import FunctionSchema

TENSOR = CType("my::Tensor", headers=("my/tensor.h",))
LIMIT = Expression("::std::numeric_limits<double>::infinity()", ("limits",))


def torch_type(text: str) -> CType:
    (found,) = FunctionSchema.parse(f"f({text} x) -> ()").arguments
    return argument_type(found.type, False, Conventions("SymInt"))


def test_examples_in_docstrings() -> None:
    for module in (defaults, signature, torch_types, types):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (const_ref(std("optional", TENSOR)), "const ::std::optional<my::Tensor>&"),
        (ref(TENSOR), "my::Tensor&"),
        (bare(const_ref(TENSOR)), "my::Tensor"),
        (bare(CType("my::Plan", is_const=True, suffix="*")), "const my::Plan*"),
        (tuple_of([]), "void"),
        (tuple_of([TENSOR]), "my::Tensor"),
        (tuple_of([TENSOR, INT64]), "::std::tuple<my::Tensor, int64_t>"),
    ],
)
def test_spelling(type_: CType, text: str) -> None:
    assert str(type_) == text


def test_headers_are_those_of_everything_in_a_signature() -> None:
    scale = CppParameter(CType("double"), "scale", LIMIT)
    names = CppParameter(const_ref(std("vector", std("string"))), "names")
    found = CppSignature("f", std("optional", TENSOR), (names, scale))
    declared = {"my/tensor.h", "optional", "string", "vector"}
    assert signature_headers([found]) == declared
    assert default_headers([found]) == {"limits"}
    assert signature_headers([CppSignature("g", VOID, ())]) == set()


def test_a_default_before_a_parameter_without_one_goes() -> None:
    one = Expression("1")
    parameters = [CppParameter(INT64, n, d) for n, d in (("a", one), ("b", None), ("c", one))]
    assert [p.default for p in trailing_defaults(parameters)] == [None, None, one]
    assert trailing_defaults(parameters[2:]) == (parameters[2],)
    assert trailing_defaults([]) == ()


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("int[]", "::std::vector<int64_t>"),
        ("SymInt[]", "::std::vector<c10::SymInt>"),
        ("int[]?", "c10::OptionalArray<int64_t>"),
        ("float[]?", "c10::OptionalArray<double>"),
        ("Scalar[]", "::std::vector<at::Scalar>"),
        ("Scalar?", "::std::optional<at::Scalar>"),
        ("str?", "::std::optional<::std::string>"),
        ("bool[2]", "::std::array<bool, 2>"),
    ],
)
def test_what_keeps_an_argument(schema: str, text: str) -> None:
    assert str(kept(torch_type(schema))) == text


def test_what_owns_texts_and_flags() -> None:
    flags = std("tuple", torch_type("str"), std("vector", CType("bool")))
    assert str(owned(flags)) == "::std::tuple<::std::string, c10::List<bool>>"
