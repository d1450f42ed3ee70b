"""Types and expressions in the configuration of a framework."""

from __future__ import annotations

import doctest

import pytest

from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.types import CType, headers_of
from torchgen_lite.targets.cpp import options
from torchgen_lite.targets.cpp.options import read_type
from torchgen_lite.targets.cpp_runtime.options import read_expression, roots


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(options).failed == 0


@pytest.mark.parametrize(
    ("text", "is_const", "suffix", "headers"),
    [
        ("toy::Dtype", False, "", ()),
        ("const toy::Generator&", True, "&", ()),
        ("toy::Plan*", False, "*", ()),
        ("std::shared_ptr<toy::std::string>", False, "", ()),
        ("::std::vector<int64_t>", False, "", ("vector", "cstdint")),
        ("const std::string_view", True, "", ("string_view",)),
        ("std::map<int64_t, std::vector<const toy::T*>>&", False, "&", ("cstdint", "vector")),
        ("toy::Of<toy::In<int>::Type>", False, "", ()),
    ],
)
def test_types(text: str, is_const: bool, suffix: str, headers: tuple[str, ...]) -> None:
    found = read_type(text)
    assert str(found) == text
    assert (found.is_const, found.suffix, headers_of(found)) == (is_const, suffix, {*headers})


def test_arguments_of_templates_are_types() -> None:
    key, value = read_type("Map<toy::Key , const toy::Value&>").args
    assert (key, value) == (CType("toy::Key"), CType("toy::Value", (), True, "&"))


def test_expressions() -> None:
    assert read_expression("std::numeric_limits<float>::max()").headers == ("limits",)
    assert read_expression("toy::Device::CPU").headers == ()


def test_roots_are_the_names_that_a_struct_could_hide() -> None:
    types = Types(
        read_type("toy::Tensor"),
        {"Stream": read_type("other::Stream<my::Queue>*"), "Layout": read_type("::rooted::Layout")},
        {"cpu": read_expression("device(toy::CPU)")},
    )
    assert roots(types) == {"toy", "other", "my", "device"}
