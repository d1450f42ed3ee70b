"""Formulas: from text to tree, and their mistakes."""

from __future__ import annotations

import pytest

from torchgen_lite.formulas.model import Call, Conditional, walk
from torchgen_lite.formulas.parser import parse_formula


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("grad*other", "grad * other"),
        ("-(a + b) * c - d", "-(a + b) * c - d"),
        ("a - (b - c)", "a - (b - c)"),
        ("((a))", "a"),
        ("std::get<0>(f(x, /*y=*/1))", "std::get<0>(f(x, 1))"),
        ("a < b ? x.y(1)->z() : {1, 2}", "a < b ? x.y(1)->z() : {1, 2}"),
        ("(a ? b : c) ? d : e ? f : g", "(a ? b : c) ? d : e ? f : g"),
        ("sum(x, [0], keepdim=true)", "sum(x, {0}, keepdim=true)"),
        ("fmap(x, [](int i){return -i;})", "fmap(x, [](int i){return -i;})"),
        ("::std::nullopt == a::b", "std::nullopt == a::b"),
        ("!a.b() || c[i] && d", "!a.b() || c[i] && d"),
    ],
)
def test_a_formula_prints_in_canonical_form(text: str, canonical: str) -> None:
    tree, found = parse_formula(text)
    assert (str(tree), found) == (canonical, ())
    assert parse_formula(canonical)[0] == tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a and b or not c", "a && b || !c"),
        ("not a == b and c", "!(a == b) && c"),
        ("not not a", "!!a"),
        ("x.dtype in {half, bfloat16}", "x.dtype == half || x.dtype == bfloat16"),
        ("n + 1 not in [2, 3] and a", "!(n + 1 == 2 || n + 1 == 3) && a"),
        ("x.dim() == 2 and (a or b)", "x.dim() == 2 && (a || b)"),
        ("a && !b", "a && !b"),
    ],
)
def test_a_condition_has_words_of_python(text: str, canonical: str) -> None:
    tree, found = parse_formula(text, is_condition=True)
    assert (str(tree), found) == (canonical, ())


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("x in half", "`in` takes a list", 6),
        ("x in {}", "`in` takes a list", 6),
        ("x not {1}", "expected the end of the formula, found `not`", 3),
        ("a and", "expected a value, found the end", 6),
        ("not " * 100 + "a", "a formula nested too deeply", 253),
    ],
)
def test_a_wrong_condition_gives_its_first_mistake(text: str, message: str, column: int) -> None:
    tree, found = parse_formula(text, is_condition=True)
    assert tree is None
    assert [(d.message, d.start()[1]) for d in found] == [(message, column)]


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("grad * 007", "`007` is octal in C++, and not a number in Python", 8),
        ("f(grad, 'a\\n')", "`'a\\n'` has an escape; C++ and Python have different ones", 9),
        ("grad * 2.5[0]", "`2.5` has no items", 11),
        ("(1).neg()", "`(1)` has no attributes", 4),
        ("f('a'(grad))", "`'a'` cannot be called", 6),
        ("-True->x", "`True` has no attributes", 6),
        ("[a, 1][0]", "`[a, 1]` has no items", 7),
        ("a * (2 / -1e3)[a]", "`(2 / -1e3)` has no items", 15),
        ("a + 9223372036854775808", "`9223372036854775808` does not fit into 64 bits", 5),
        ("a * 1e309", "`1e309` does not fit into 64 bits", 5),
        ("a * 1e-400", "`1e-400` does not fit into 64 bits", 5),
        ("a * 0.01E-323", "`0.01E-323` does not fit into 64 bits", 5),
        ("a[" + "9" * 5000 + "]", f"`{'9' * 40}` does not fit into 64 bits", 3),
        ("grad * ", "expected a value, found the end", 7),
        ("f(a b)", "expected `,`, found `b`", 5),
        ("f(k=1, a)", "expected a keyword argument, found `a`", 8),
        ("f(k=1, k=2)", "expected each keyword only once, found `k`", 8),
        ("a $ b", "expected the end of the formula, found `$`", 3),
        ("a ? b", "expected `:`, found the end", 6),
        ("a.1", "expected the end of the formula, found `.1`", 2),
        ("(" * 100, "a formula nested too deeply", 65),
        ("a" + "[a" * 100, "a formula nested too deeply", 129),
        ("a" + " + a" * 100, "a formula nested too deeply", 1),
        ("", "expected a value, found the end", 1),
    ],
)
def test_a_wrong_formula_gives_its_first_mistake(text: str, message: str, column: int) -> None:
    tree, found = parse_formula(text)
    assert tree is None
    assert [(d.code, d.message, d.start()[1]) for d in found] == [("TG219", message, column)]


def test_nodes_know_where_they_stand() -> None:
    tree, _ = parse_formula("a ? where(b, c) : d")
    assert isinstance(tree, Conditional)
    calls = [node for node in walk(tree) if isinstance(node, Call)]
    assert [node.span.text for node in calls if node.span] == ["where(b, c)"]


@pytest.mark.parametrize("number", ["0", "0.0", "0e9", ".0E-400", "1e-323", "1.7e308"])
def test_numbers_that_fit(number: str) -> None:
    tree, found = parse_formula(f"a * {number}")
    assert (str(tree), found) == (f"a * {number}", ())
