"""Types and defaults under the stable ABI."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.languages_torch import entry
from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.signature import signature_headers
from torchgen_lite.schema import BaseType, FunctionSchema, ListType, OptionalType, Type

REF = "torch::headeronly::HeaderOnlyArrayRef"
TENSOR = "torch::stable::Tensor"


def argument(text: str) -> tuple[str, str | None]:
    """Type and default of the C++ parameter for an argument of a schema."""
    (found,) = stable.arguments(FunctionSchema.parse(f"f({text}) -> ()").arguments)
    return str(found.type), found.default and found.default.text


@pytest.mark.parametrize(
    ("schema", "parameter", "owned"),
    [
        ("Tensor", f"const {TENSOR}&", TENSOR),
        ("Tensor(a!)", f"{TENSOR}&", TENSOR),
        ("Tensor?", f"const ::std::optional<{TENSOR}>&", f"::std::optional<{TENSOR}>"),
        ("Tensor(a!)?", f"const ::std::optional<{TENSOR}>&", f"::std::optional<{TENSOR}>"),
        ("Tensor[]", f"{REF}<{TENSOR}>", f"::std::vector<{TENSOR}>"),
        (
            "Tensor?[]",
            f"const ::std::vector<::std::optional<{TENSOR}>>&",
            f"::std::vector<::std::optional<{TENSOR}>>",
        ),
        ("int", "int64_t", "int64_t"),
        ("SymInt", "int64_t", "int64_t"),
        ("float?", "::std::optional<double>", "::std::optional<double>"),
        ("str", "const ::std::string&", "::std::string"),
        ("str?", "const ::std::optional<::std::string>&", "::std::optional<::std::string>"),
        ("int[2]", f"{REF}<int64_t>", "::std::vector<int64_t>"),
        (
            "SymInt[]?",
            "const ::std::optional<::std::vector<int64_t>>&",
            "::std::optional<::std::vector<int64_t>>",
        ),
        (
            "int[][]",
            "const ::std::vector<::std::vector<int64_t>>&",
            "::std::vector<::std::vector<int64_t>>",
        ),
        ("bool[3]", "const ::std::vector<bool>&", "::std::vector<bool>"),
        (
            "bool[]?",
            "const ::std::optional<::std::vector<bool>>&",
            "::std::optional<::std::vector<bool>>",
        ),
        ("Device", "torch::stable::Device", "torch::stable::Device"),
        (
            "ScalarType?",
            "::std::optional<torch::headeronly::ScalarType>",
            "::std::optional<torch::headeronly::ScalarType>",
        ),
        ("Generator", "const torch::stable::Generator&", "torch::stable::Generator"),
    ],
)
def test_types(schema: str, parameter: str, owned: str) -> None:
    assert argument(f"{schema} x")[0] == parameter
    (parsed,) = FunctionSchema.parse(f"f({schema} x) -> ()").arguments
    assert str(stable.owned_type(parsed.type)) == owned


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("float x=1", "1.0"),
        ("float x=-inf", "-::std::numeric_limits<double>::infinity()"),
        ("float x=nan", "::std::numeric_limits<double>::quiet_NaN()"),
        ("int x=Mean", "1"),
        ("int x=-9223372036854775808", "INT64_MIN"),
        ("bool x=True", "true"),
        ("bool x=1", "true"),
        ("str x='me\"an'", '"me\\"an"'),
        ("int[2] x=1", "{1, 1}"),
        ("int[] x=[]", "{}"),
        ("int[]? x=[0, 1]", "::std::vector<int64_t>{0, 1}"),
        ("bool[2]? x=[True, False]", "::std::vector<bool>{true, false}"),
        ("Tensor? x=None", "::std::nullopt"),
        ("ScalarType x=long", "torch::headeronly::ScalarType::Long"),
        ("MemoryFormat? x=channels_last", "torch::headeronly::MemoryFormat::ChannelsLast"),
        ("Layout x=strided", "torch::headeronly::Layout::Strided"),
        # The stable ABI has no constant for a device, and a reference cannot default to an undefined tensor.
        ('Device x="cpu"', None),
        ("Tensor x=None", None),
    ],
)
def test_defaults(text: str, default: str | None) -> None:
    assert argument(text)[1] == default


def test_no_default_stands_before_a_parameter_without_one() -> None:
    schema = FunctionSchema.parse("f(int a=1, *, Device b='cpu', int c=2) -> ()")
    assert [p.default and p.default.text for p in stable.arguments(schema.arguments)] == [
        None,
        None,
        "2",
    ]


def test_results_are_values() -> None:
    def returns(text: str) -> str:
        return str(stable.returns_type(FunctionSchema.parse(f"f(Tensor(a!) x) -> {text}")))

    assert returns("()") == "void"
    assert returns("Tensor(a!)") == TENSOR
    assert returns("(Tensor, int[])") == f"::std::tuple<{TENSOR}, ::std::vector<int64_t>>"


BASE = st.sampled_from(["Tensor", "int", "SymInt", "float", "bool", "str", "Device", "Generator"])
OTHERS = st.sampled_from(["Scalar", "Storage", "Stream", "complex", "SymBool", "QScheme", "Any"])


def types(base: st.SearchStrategy[str]) -> st.SearchStrategy[Type]:
    def wrap(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        return inner.map(OptionalType) | inner.map(ListType)

    return st.recursive(base.map(BaseType), wrap, max_leaves=1)


@given(types(BASE))
def test_what_is_carried_is_carried_in_options_and_lists(type_: Type) -> None:
    assert stable.unsupported(type_) is None
    assert (2, 9) <= stable.since(type_) <= (2, 13)
    assert str(stable.owned_type(type_)).count("<") == str(type_).count("?") + str(type_).count("[")


@given(types(OTHERS))
def test_what_is_not_carried_is_named(type_: Type) -> None:
    assert stable.unsupported(type_) == str(type_).replace("?", "").replace("[]", "")
    assert stable.unsupported_result(type_) is not None


def test_lists_of_bools_come_in_and_do_not_go_out() -> None:
    flags = OptionalType(ListType(BaseType("bool"), 3))
    assert stable.unsupported(flags) is None
    assert stable.unsupported_result(flags) == "bool[3]"


def test_headers_are_those_of_what_is_spelled() -> None:
    def headers(arguments: str) -> set[str]:
        function = entry(f"f({arguments}) -> ()")
        return set(signature_headers([stable.signature(function.func)]))

    view = "torch/headeronly/util/HeaderOnlyArrayRef.h"
    assert headers("Tensor[] xs") == {"torch/csrc/stable/tensor.h", view}
    assert headers("int[]? xs") == {"cstdint", "optional", "vector"}
    assert headers("float x, bool y") == set()
