"""Formulas as Python: conjugates, and how long ones are taken apart."""

from __future__ import annotations

import black
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.analysis.differentiability.typed import Scope, type_formula
from torchgen_lite.dialects.python_formula import Words, Written, in_python, statements, write
from torchgen_lite.schema.formula import parse_formula
from torchgen_lite.schema.formula.kinds import SCALAR
from torchgen_lite.targets.python.nodes import conjugate

WORDS = Words(lambda name: f"_functions.{name}", lambda saved: None, conjugate)


def written(text: str) -> Written:
    tree, found = parse_formula(text)
    assert tree is not None, found
    return write(in_python(type_formula(tree, Scope({"alpha": SCALAR}, {})), WORDS))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("grad * other.conj()", "grad * (_conj(other) if other._dtype.is_complex else other)"),
        ("grad * alpha.conj()", "grad * alpha.conjugate()"),
        ("grad * (a * b).conj()", "grad * _conj(a * b)"),
        (
            "grad.mm(mat.conj().t())",
            "grad.mm((_conj(mat) if mat._dtype.is_complex else mat).t())",
        ),
        ("where(a, b.conj(), 0)", "_functions.where(a, _conj(b) if b._dtype.is_complex else b, 0)"),
    ],
)
def test_conjugates(formula: str, text: str) -> None:
    assert written(formula).text == text


LONG = "gradient_of_the_only_result_that_there_is"


@pytest.mark.parametrize(
    ("formula", "lines"),
    [
        (
            f"{LONG}.bmm({LONG}_matrix.conj().transpose(1, 2))",
            [
                f"g_partpart = _conj({LONG}_matrix)",
                "g_part = g_partpart.transpose(1, 2)",
                f"g_ = {LONG}.bmm(g_part)",
            ],
        ),
        (
            f"{LONG} / ({LONG}_other.conj() * 0.25)",
            [
                f"g_partpart = _conj({LONG}_other)",
                "g_part = g_partpart * 0.25",
                f"g_ = {LONG} / g_part",
            ],
        ),
    ],
)
def test_long_formulas_are_taken_apart(formula: str, lines: list[str]) -> None:
    assert statements("g_", written(formula), indent=12) == lines


NAMES = st.sampled_from(["a", "alpha", LONG, f"{LONG}_{LONG}"])
FORMULAS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        inner.map(lambda text: f"({text}).conj()"),
        inner.map(lambda text: f"-({text})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) * ({pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}).mm({pair[1]})"),
        st.lists(inner, max_size=3).map(lambda items: f"f({', '.join(items)})"),
    ),
    max_leaves=8,
)


@given(FORMULAS)
def test_any_formula_ends_and_is_what_black_leaves_alone(formula: str) -> None:
    lines = statements("g", written(formula), indent=8)
    body = "\n".join(f"        {line}" for line in lines)
    text = f"class C:\n    def f(self):\n{body}\n"
    compile(text, "formula", "exec")
    # Two names in one operation may be longer than a line, and black can't help it either.
    if all(len(line) <= 100 for line in text.splitlines()):
        assert black.format_str(text, mode=black.Mode(line_length=100)) == text
