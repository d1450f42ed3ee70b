"""The rule of layout: what a line that is too long becomes, what stays, and that no meaning changes."""

from __future__ import annotations

import ast
import doctest
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from torchgen_lite.emit import printer, tokens
from torchgen_lite.emit.printer import lay_out

A, B, C = "a" * 40, "b" * 40, "c" * 40
PYTHON = {
    "a call has one item a line": (
        f"value = function({A}, {B}, key={C})",
        f"value = function(\n    {A},\n    {B},\n    key={C},\n)",
    ),
    "and again inside each item that is too long": (
        f"value = function(inner({A}, {B}, {C}), [x])",
        f"value = function(\n    inner(\n        {A},\n        {B},\n        {C},\n    ),\n    [x],\n)",
    ),
    "parameters before the type of the result": (
        f"def function(first: {A}, *, second: {B} = None) -> tuple[{C}, int]:",
        f"def function(\n    first: {A},\n    *,\n    second: {B} = None,\n) -> tuple[{C}, int]:",
    ),
    "the type of the result where it is what is long": (
        f"def function(self) -> tuple[{A}, {B}, {C}]: ...",
        f"def function(self) -> tuple[\n    {A},\n    {B},\n    {C},\n]: ...",
    ),
    "imported names": (
        f"from module import {A}, {B} as b, {C}",
        f"from module import (\n    {A},\n    {B} as b,\n    {C},\n)",
    ),
    "a value is split before the operators that bind least": (
        f"value = {A} + 1 if {B} and x else {C}",
        f"value = (\n    {A} + 1\n    if {B} and x\n    else {C}\n)",
    ),
    "a condition": (
        f"if {A} and not {B} or {C}(x, y):",
        f"if (\n    {A} and not {B}\n    or {C}(x, y)\n):",
    ),
    "a returned tuple": (
        f"return {A}, {B}, {C}",
        f"return (\n    {A},\n    {B},\n    {C},\n)",
    ),
    "a value of one piece": (
        f"the_kernel_to_call = {A}[{B}][key]",
        f"the_kernel_to_call = (\n    {A}[{B}][key]\n)",
    ),
    "no brackets with one short word": (
        f"{A}.{B} = {C}.call(x)",
        f"{A}.{B} = (\n    {C}.call(x)\n)",
    ),
    "a comprehension gets no comma": (
        f"return [{A}(x) for x in {B} if {C}]",
        f"return [\n    {A}(x)\n    for x in {B}\n    if {C}\n]",
    ),
    "a subscript gets no comma unless it has one": (
        f"value: {A}[{B}[{C}]] = {{}}",
        f"value: {A}[\n    {B}[{C}]\n] = {{}}",
    ),
    "a line that goes on with subscripts": (
        f"[{A}][{B}][{C}]",
        f"[\n    {A}\n][{B}][{C}]",
    ),
    "an item of a table": (
        f"    *function({A}, {B}, {C})[0],",
        f"    *function(\n        {A},\n        {B},\n        {C},\n    )[0],",
    ),
    "a comment is wrapped": (
        f"    # {A} {B} {C}",
        f"    # {A} {B}\n    # {C}",
    ),
}
CPP = {
    "a call": (
        f"  return function({A}, {B}, {C});",
        f"  return function(\n      {A},\n      {B},\n      {C});",
    ),
    "parameters before the type of the result": (
        f"::std::tuple<{A}, int> function(int {B}, int x = 0) const {{",
        f"::std::tuple<{A}, int> function(\n    int {B},\n    int x = 0) const {{",
    ),
    "template arguments where there are no other brackets": (
        f"struct call : detail::Calls<{A}, {B}(const at::Tensor&)> {{",
        f"struct call : detail::Calls<\n    {A},\n    {B}(const at::Tensor&)> {{",
    ),
    "operators go on behind an indentation": (
        f"return {A} && {B} || {C}.defined();",
        f"return {A} && {B}\n    || {C}.defined();",
    ),
    "a choice": (
        f"grad = {A}.defined() ? {B} * 2 : {C};",
        f"grad = {A}.defined()\n    ? {B} * 2\n    : {C};",
    ),
    "a value of one piece": (
        f"static constexpr const {A}* {B} = {C};",
        f"static constexpr const {A}* {B} =\n    {C};",
    ),
    "a list keeps its comma": (
        f"table = {{{A}, {B}, {C},}};",
        f"table = {{\n    {A},\n    {B},\n    {C},}};",
    ),
    "a comparison is no bracket": (
        f"function({A} < {B}, {C} > x);",
        f"function(\n    {A} < {B},\n    {C} > x);",
    ),
}
KEPT = {
    "a.py": [
        f'"""{A} {B} {C}"""',
        f'text = "{A} f({B}, {C})"',
        f'"""A docstring.\n\nf({A}, {B}, {C})\n"""',
        f"text = '''\nf({A}, {B}, {C})\n'''",
        f"# fmt: off\nf({A}, {B}, {C})\n# fmt: on\n",
        f"f({A}, {B}, {C})  # {A}",
        f"{A}{B}{C} = x(y)",
    ],
    "a.h": [
        f'#define NAME f("{A}", {B}, {C})',
        f"#define NAME \\\n  f({A}, {B}, {C})",
        f"f({A}, {B}, {C}); // {A}",
        f"/* One\nf({A}, {B}, {C})\n*/",
        f'text = R"(\nf({A}, {B}, {C}) "\n)"; f(x);',
        f"// clang-format off\nf({A}, {B}, {C});\n// clang-format on\n",
    ],
    "a.cmake": [f"f({A}, {B}, {C})"],
}


@pytest.mark.parametrize("module", [printer, tokens])
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        *(pytest.param("a.py", *case, id=name) for name, case in PYTHON.items()),
        *(pytest.param("a.cpp", *case, id=f"C++: {name}") for name, case in CPP.items()),
    ],
)
def test_what_becomes_of_a_line(path: str, text: str, expected: str) -> None:
    assert lay_out(path, text) == expected
    assert lay_out(path, expected) == expected


@pytest.mark.parametrize(
    ("path", "text"), [(path, text) for path, texts in KEPT.items() for text in texts]
)
def test_what_stays(path: str, text: str) -> None:
    assert lay_out(path, text) == text


def test_what_stands_before_does_not_matter() -> None:
    long, laid_out = PYTHON["a call has one item a line"]
    for before in ('"""One."""', 'x = \'"""\'', '# """', "# one, two,", "x = [\n    1,\n]"):
        assert lay_out("a.pyi", f"{before}\n{long}\n") == f"{before}\n{laid_out}\n"


def test_what_fits_stays_on_its_line() -> None:
    text = f"value = function({A}, {B})"
    assert len(text) == 100 and lay_out("a.py", text) == text
    assert lay_out("a.py", f" {text}") != f" {text}"


def test_an_argument_that_closes_a_call_is_no_statement() -> None:
    text = f"f(\n    first: int = {A} and {B} and {C})\n"
    assert "= (" not in lay_out("a.py", text)


NAMES = st.sampled_from(["x", "self.other", "gradient", "wanted" * 5, "T"])
LEAVES = st.one_of(NAMES, st.sampled_from(["1", "-2.5", "'it, is (a'", '"a \\" and b"', "None"]))


def joined(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The template, filled with a text from each strategy."""
    return st.tuples(*parts).map(lambda texts: template.format(*texts))


def listed(items: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[str]:
    return st.lists(items, min_size=least, max_size=5).map(", ".join)


def _python(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from("+ - * / // ** @ & | == < <= and or in is".split())
    return st.one_of(
        joined("{}({})", NAMES, listed(inner)),
        joined("{}(*{}, **{})", NAMES, NAMES, inner),
        joined("{}({}, key={})", NAMES, inner, inner),
        joined("{}.method({})[{}]", NAMES, inner, inner),
        joined("{}[{}, {}]", NAMES, inner, inner),
        joined("({},)", inner),
        joined("({})", inner),
        joined("[{}]", listed(inner)),
        joined("{{{}: {}}}", inner, inner),
        joined("{{{}}}", listed(inner, 1)),
        joined('"text"[{}]', inner),
        joined("({} {} {})", inner, operators, inner),
        joined("(not {} {} {})", inner, operators, inner),
        joined("({} if {} else {})", inner, inner, inner),
        joined("[{} for a, b in {} if {}]", inner, inner, inner),
        joined("f({} for a in {})", inner, inner),
        joined("f(lambda a, *b: {}, {})", inner, inner),
        joined("(lambda a, b: {})", inner),
        joined("(lambda: ({}))", inner),
    )


EXPRESSIONS = st.recursive(LEAVES, _python, max_leaves=14)
BARE = EXPRESSIONS.map(lambda text: text[1:-1] if text.startswith("(") else text)
STATEMENTS = st.one_of(
    BARE,
    joined("{} = {}", NAMES, BARE),
    joined("a, {} = {} = {}", NAMES, NAMES, BARE),
    joined("{}[{}] = {}", NAMES, EXPRESSIONS, BARE),
    joined("a: dict[str, {}] = {}", NAMES, BARE),
    joined("{} += {}", NAMES, BARE),
    joined("{} = {}; {} = {}", NAMES, BARE, NAMES, BARE),
    joined("return {}", BARE),
    joined("return {}, {}", EXPRESSIONS, EXPRESSIONS),
    joined("assert {}, {}", EXPRESSIONS, EXPRESSIONS),
    joined("raise {} from {}", EXPRESSIONS, NAMES),
    joined("del {}[{}], {}", NAMES, EXPRESSIONS, NAMES),
    joined("if {}:", BARE),
    joined("while {}:", BARE),
    joined("for a, b in {}:", EXPRESSIONS),
    joined("with {}({}) as x, {}:", NAMES, EXPRESSIONS, EXPRESSIONS),
    joined("def f(x, /, y: int = {}, *, z={}) -> tuple[{}, {}]:", *[EXPRESSIONS] * 4),
    joined("class Node({}):", listed(NAMES, 1)),
    joined("from a.b import {}", st.lists(st.sampled_from([A, B, C]), min_size=1).map(", ".join)),
    joined("f(\n    {},\n    x={},\n    y={}\n)", EXPRESSIONS, BARE, BARE),
)


def _parsed(text: str) -> str:
    return ast.dump(ast.parse(text + (" ..." if text.endswith(":") else "")))


@given(STATEMENTS, st.integers(0, 2))
def test_no_statement_of_python_changes_its_meaning(statement: str, depth: int) -> None:
    block = "if x:\n" * bool(depth) + " " * 4 * depth
    text = block + statement.replace("\n", "\n" + " " * 4 * depth)
    try:
        meant = _parsed(text)
    except SyntaxError:
        assume(False)
    found = lay_out("a.py", text)
    assert _parsed(found) == meant
    assert lay_out("a.py", found) == found


def _cpp(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from("+ - * / == != && || & < > << >>".split())
    return st.one_of(
        joined("at::{}({})", NAMES, listed(inner)),
        joined("{}->method({})", NAMES, listed(inner)),
        joined("{}<{}, ::std::array<bool, 3>>({})", NAMES, NAMES, inner),
        joined("{}[{}]", NAMES, inner),
        joined("T{{{}}}", listed(inner)),
        joined("({} {} {})", inner, operators, inner),
        joined("({} > 2 ? {} : {})", NAMES, inner, inner),
        joined("[&](const T& a, {} b) {{ return {}; }}", NAMES, inner),
        joined("1'000 + {}", inner),
    )


CPP_EXPRESSIONS = st.recursive(LEAVES, _cpp, max_leaves=14)
CPP_STATEMENTS = st.one_of(
    joined("{};", CPP_EXPRESSIONS),
    joined("return {} && {};", CPP_EXPRESSIONS, CPP_EXPRESSIONS),
    joined("const auto {} = {};", NAMES, CPP_EXPRESSIONS),
    joined("for (const auto& x : {}) {{", CPP_EXPRESSIONS),
    joined("::std::tuple<{0}, T> call({0} a, T b = {1}) const {{", NAMES, CPP_EXPRESSIONS),
    joined("struct {} : Base<{}, T(const T&)> {{", NAMES, CPP_EXPRESSIONS),
)
# Strings are kept whole, so that a change inside of one is seen.
WHITE_SPACE = re.compile(r'("(?:[^"\\]|\\.)*"|(?<!\d)\'(?:[^\'\\]|\\.)*\')|\s+')


def tokens_of(text: str) -> str:
    """C++ without its white space, except for that in strings."""
    return WHITE_SPACE.sub(lambda match: match[1] or "", text)


@given(CPP_STATEMENTS, st.integers(0, 2))
def test_no_statement_of_cpp_changes_its_tokens(statement: str, depth: int) -> None:
    text = "  " * depth + statement
    found = lay_out("a.cpp", text)
    assert tokens_of(found) == tokens_of(text)
    assert lay_out("a.cpp", found) == found
