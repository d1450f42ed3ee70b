"""The short cut for usual statements gives the same lines as the rules, and leaves all others to the rules."""

from __future__ import annotations

import black
import pytest

from tests.unit.emit.layout.test_python import black_lines
from torchgen_lite.emit.layout.cpp_usual import lay_out_usual_cpp
from torchgen_lite.emit.layout.items import split_items
from torchgen_lite.emit.layout.python_usual import lay_out_usual

LONG = "argument_of_the_call"
MANY = ", ".join(f"{LONG}_{i}" for i in range(4))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a", ["a"]),
        ("a, (b, c), d[e, f]", ["a", "(b, c)", "d[e, f]"]),
        ('"a, b", f("c)", d)', ['"a, b"', 'f("c)", d)']),
        (""""(\\"'", '"', ["]", b]""", ['''"(\\"'"''', "'\"'", '["]", b]']),
        ("a) + (b", None),
        ("a, (b", None),
        ('f("a)"', None),
    ],
)
def test_items(text: str, items: list[str] | None) -> None:
    assert split_items(text) == items


def test_items_with_angles() -> None:
    text = "::std::array<bool, 3> mask, const std::pair<int, std::array<bool, 3>>& pair"
    assert split_items(text, angles=True) == text.replace(" mask, ", " mask|").split("|")
    assert split_items("a->b, c", angles=True) is None


@pytest.mark.parametrize(
    "text",
    [
        f"value = function({MANY})",
        f"return function({MANY})",
        f"def function({MANY}) -> int:",
        f"value = [{MANY}]",
        f"from module import {MANY}",
        f"value = {LONG * 4}_x",
        f"value = function(inner({MANY}))",
        f"value = function((inner(argument),), {MANY})",
        f"value = table[{LONG}][{LONG}][{LONG}][{LONG}]",
        f"value: int = table[{LONG}][{LONG}][{LONG}][{LONG}]",
        f"value = table{''.join(f'[{LONG}_{i}]' for i in range(12))}",
        f"class Name({LONG * 4}):",
        f"{LONG * 4} = function(argument)",
        f'value = "{MANY}"',
        f"""value = function("it's", '"', {MANY})""",
        "f(a, b,)",
    ],
)
def test_usual_python(text: str) -> None:
    lines = lay_out_usual(text, 0)
    assert lines is not None and lines.split("\n") == black_lines(text, black.Mode())


@pytest.mark.parametrize(
    "text",
    [
        "f(a)",
        f"value = function({MANY}).method()",
        f"value = function({MANY}) + 1",
        f"if function({MANY}):",
        f"return not({MANY})",
        f"value = [{LONG} for {LONG}, {LONG} in {LONG}]",
        f"value = function(lambda a, b: {LONG}, {MANY})",
        f"value = function(({MANY},), {MANY})",
        f"value = function((inner({LONG}, {LONG},),), {MANY})",
        f"value: str = '{MANY}'",
    ],
)
def test_unusual_python(text: str) -> None:
    assert lay_out_usual(text, 0) is None


@pytest.mark.parametrize(
    "text",
    [
        f"return function({MANY});",
        f"at::Tensor function({MANY}) const {{",
        f"const auto value = function({MANY});",
        f"void function(std::array<bool, 3> {LONG}, std::pair<int, std::array<bool, 3>>& {LONG});",
        f'void function(c10::string_view {LONG} = "mean", at::IntArrayRef {LONG} = {{-2, -1}});',
        f"using schema = ::std::tuple<{', '.join(['at::Tensor'] * 6)}>(at::Tensor, int64_t);",
        f'constexpr const char* text = "{MANY}";',
    ],
)
def test_usual_cpp(text: str) -> None:
    assert lay_out_usual_cpp(text, 0) is not None


@pytest.mark.parametrize(
    "text",
    [
        "f(a);",
        f"return function({MANY}).method();",
        f"return std::move(function({MANY}));",
        f"if (function({MANY})) {{",
        f"value = {{{MANY}}};",
        f"function(a < b, {MANY}, c > d);",
        f"function({LONG}_of_this->{LONG}, {MANY});",
        f"function({MANY})({MANY});",
        f"function({{a, b,}}, {MANY});",
        f'function("a, b", {MANY});',
        f"fw({MANY});",
    ],
)
def test_unusual_cpp(text: str) -> None:
    assert lay_out_usual_cpp(text, 0) is None
