"""The layout of C++ statements, for a list of cases and for any other: clang-format agrees."""

from __future__ import annotations

import subprocess
from textwrap import indent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.cpp import compiling
from tests.unit.emit.layout.cases import read_cases
from tests.unit.emit.layout.joined import join_cpp_lines
from torchgen_lite.emit.layout import lay_out
from torchgen_lite.emit.layout.cpp import lay_out_cpp_statement

CASES = read_cases("cpp_cases.txt", "// ")


def clang_format(text: str) -> str:
    """The text in the style of this repository."""
    style = f"--style=file:{ROOT / '.clang-format'}"
    command = [str(compiling.clang_format()), style, "--assume-filename=x.cpp"]
    return subprocess.run(command, input=text, stdout=-1, check=True, text=True).stdout


def _closed(statement: str) -> str:
    end = ";" if statement.startswith("struct") else ""
    return f"{statement}\n  int body;\n}}{end}" if statement.endswith("{") else statement


def file_of(statements: list[str]) -> str:
    """A file of statements; a block that a statement opens is closed."""
    texts = [_closed(statement) for statement in statements]
    return "".join(f"// {i}\n{text}\n" for i, text in enumerate(texts))


@pytest.mark.parametrize(("statement", "lines"), CASES)
def test_statement(statement: str, lines: list[str]) -> None:
    assert lay_out_cpp_statement(statement, 0).split("\n") == lines
    assert lay_out_cpp_statement(join_cpp_lines(lines), 0).split("\n") == lines


@compiling.needs_clang_format
def test_clang_format_says_the_same() -> None:
    statements = [case.values[0] for case in CASES]
    text = file_of([statement for statement in statements if isinstance(statement, str)])
    assert clang_format(text) == lay_out("x.cpp", text)


@pytest.mark.parametrize(
    "line",
    [
        f"// {'comment(a, b) ' * 8}",
        f'#define NAME function("{"a" * 80}", b)',
        f"function(argument, {'a' * 70});  // why",
        f"    {'a' * 50}, function({'b' * 30}));",
        f"std::for_each(a, b, [](const at::Tensor& {'a' * 50}) {{",
        f"Node({'int ' + 'a' * 40}, int b) : a({'a' * 40}), b(b) {{}}",
        f'"{"a" * 80}"',
    ],
)
def test_what_stays_as_it_is(line: str) -> None:
    text = f"first(\n{line}\n" if line.startswith(" ") else f"{line}\n"
    assert lay_out("x.cpp", text) == text


@pytest.mark.parametrize("depth", [51, 65])
def test_a_statement_that_is_nested_too_deeply_stays_on_its_line(depth: int) -> None:
    line = f"auto x = grad * {'square(' * depth}grad{')' * depth};"
    assert lay_out_cpp_statement(line, 0) == line


@compiling.needs_clang_format
def test_statements_with_many_places_to_divide() -> None:
    """Each operand and bracket doubles the possible layouts; equal states are examined once."""
    wanted = " || ".join(f"task_should_compute_output({i})" for i in range(40))
    text = (
        f"void f() {{\n  if ({wanted}) {{\n    return {'square(a, ' * 14}b{')' * 14};\n  }}\n}}\n"
    )
    assert lay_out("x.cpp", text) == clang_format(text)
    assert lay_out_cpp_statement(f"return {'square(a, ' * 50}b{')' * 50};", 0).count("\n") > 30


def test_a_comment_does_not_go_on_in_the_next_line() -> None:
    """The `?` of `float?` at the end of a comment is not an operator."""
    line = f"int function(int {'a' * 40}, int {'b' * 40}) {{"
    assert lay_out("x.h", f"// demo::f() -> float?\n{line}\n").count("\n    int ") == 2


def test_regions_and_comments_stay_as_they_are() -> None:
    long = f"function({'a' * 50}, {'b' * 50});"
    text = f"// clang-format off\n{long}\n// clang-format on\n/* One\n{long}\n*/\nif (a) {{\n  {long}\n}}\n"
    laid = f"  function(\n      {'a' * 50},\n      {'b' * 50});\n"
    assert lay_out("x.h", text) == text.replace(f"  {long}\n", laid)


def test_conditions_of_the_preprocessor() -> None:
    one = "A" * 30
    assert lay_out("x.h", f"#if defined({one}) && !defined({one}) && (B || defined({one}))\n") == (
        f"#if defined({one}) && \\\n    !defined({one}) && \\\n    (B || defined({one}))\n"
    )


def test_errors_of_the_preprocessor() -> None:
    said = f'"{"a" * 70}"'
    assert lay_out("x.h", f"#error {said}\n") == f"#error {said}\n"
    assert lay_out("x.h", f"#error {said} + 1\n") == f"#error \\\n    {said} + 1\n"


NAMES = st.sampled_from(["self", "other", "gradient", "grad_input_mask", "weight" * 5])
CALLED = st.sampled_from(
    ["wanted", "at::linear", "ops::convolution::call", f"at::_ops::{'long_' * 9}::call"]
)
TYPES = st.sampled_from(
    [
        "int64_t",
        "const at::Tensor&",
        "::std::optional<at::ScalarType>",
        "const ::std::optional<at::Tensor>&",
        "::std::array<bool, 3>",
        "::std::tuple<at::Tensor, ::std::vector<at::Tensor>, at::Tensor>",
        f"::std::tuple<{', '.join(['at::Tensor'] * 7)}>",
    ]
)


def listed(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items, max_size=6).map(", ".join)


def joined(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The template, filled with a text from each strategy."""
    return st.tuples(*parts).map(lambda texts: template.format(*texts))


OPERATORS = st.sampled_from("+ - * / == != && || &".split())
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        joined("{}({})", CALLED, listed(inner)),
        joined("{}.method({})", NAMES, listed(inner)),
        joined("{}.first().second({})", NAMES, listed(inner)),
        joined("-{}({})", CALLED, listed(inner)),
        joined("{}[{}]", NAMES, inner),
        joined("({} {} {})", NAMES, OPERATORS, inner),
        joined("({} > 2 ? {} : {})", NAMES, inner, inner),
    ),
    max_leaves=12,
)
FORMULAS = st.one_of(
    joined("{} * {} + {}", EXPRESSIONS, EXPRESSIONS, EXPRESSIONS),
    joined("{}.defined() ? {} : {}", NAMES, EXPRESSIONS, EXPRESSIONS),
    EXPRESSIONS,
)
CALLS = joined("{}({})", CALLED, listed(EXPRESSIONS))
PARAMETERS = listed(
    st.one_of(
        joined("{} {}", TYPES, NAMES),
        joined(
            "{} {} = {}", TYPES, NAMES, st.sampled_from(["{}", "at::kLong", '"mean"', "c10::f(1)"])
        ),
    )
)
DECLARATIONS = st.one_of(
    joined("using {} = {}({});", NAMES, TYPES, listed(TYPES)),
    joined("{} {}({});", TYPES, NAMES, PARAMETERS),
    joined("inline {} {}({}) {{", TYPES, NAMES, PARAMETERS),
    joined("static {} call({}) const;", TYPES, PARAMETERS),
)
STATEMENTS = st.one_of(
    joined("{};", CALLS),
    joined("return {};", CALLS),
    joined("grad_{}_ = {};", NAMES, FORMULAS),
    joined("std::tie(grad_self_, {}) = {};", NAMES, FORMULAS),
    joined("const auto {} = {};", NAMES, EXPRESSIONS),
    joined("auto {} = std::move({});", NAMES, EXPRESSIONS),
    joined("if ({}) {{", EXPRESSIONS),
)


# Of layouts with the same cost, the one whose last penalty comes latest is chosen.
WEIGHT = "weight" * 5
EQUALLY_GOOD = (
    f"return at::_ops::{'long_' * 9}::call((grad_input_mask > 2 ? (self > 2 ? gradient : other.method((self != "
    f"other.method({WEIGHT}, other, other, {WEIGHT}, other)))) : {WEIGHT}[gradient]));"
)


@pytest.mark.tools
@compiling.needs_clang_format
@settings(max_examples=20)
@example([], ["std::tie(grad_self_, self) = self * weightweightweightweightweight + at::linear();"])
@example([], [EQUALLY_GOOD])
@given(
    st.lists(DECLARATIONS, min_size=10, max_size=20),
    st.lists(STATEMENTS, min_size=10, max_size=20),
)
def test_any_statement(declarations: list[str], statements: list[str]) -> None:
    """Statements are put into a function: outside, clang-format reads `std::tie(a, b) = c` as a declaration."""
    body = indent(file_of(statements), "  ")
    text = f"{file_of(declarations)}void function() {{\n{body}}}\n"
    assert clang_format(text) == lay_out("x.cpp", text)
