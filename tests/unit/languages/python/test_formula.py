"""Formulas as Python: conjugates, and the layout of long formulas."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.analysis.differentiability.vocabulary import callee
from torchgen_lite.emit.printer import lay_out
from torchgen_lite.formulas.kinds import INTS, SCALAR
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.tree import Scope
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.languages.python.formula import FormulaNames, in_python, write
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.python.nodes import Functions

WORDS = FormulaNames(
    lambda name: f"_functions.{name}",
    "_{}".format,
    lambda saved: None,
    Functions({}, set(), set()).conjugate,
)


def written(text: str) -> str:
    tree, found = parse_formula(text)
    assert tree is not None, found
    return write(in_python(type_formula(tree, Scope({"alpha": SCALAR, "dims": INTS}, {})), WORDS))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("grad * other.conj()", "grad * (_conj(other) if other._dtype.is_complex else other)"),
        ("f(True, false, None)", "_functions.f(True, False, None)"),
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
    assert written(formula) == text


def test_a_list_has_its_length() -> None:
    assert written("grad / dims.size() * x.size()") == "grad / len(dims) * x.size()"


BACK = "back(Tensor grad, int[2] sizes, *, str mode, Tensor? weight=None) -> Tensor"
SPREAD = "spread(Tensor x, int[] sizes, *, int n) -> Tensor"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("back(grad, at::IntArrayRef{1, 2}, 'a')", "_functions.back(grad, [1, 2], mode='a')"),
        (
            "back(grad, {}, 'a', weight=w)",
            "_functions.back(grad, [], mode='a', weight=w)",
        ),
        ("grad.back({}, 'a', w)", "grad.back([], mode='a', weight=w)"),
        ("spread(x, 1, 2)", "_functions.spread(x, 1, 2)"),
    ],
)
def test_keyword_only_arguments_that_are_given_by_position(formula: str, text: str) -> None:
    schemas = [FunctionSchema.parse(f"lib::{schema}") for schema in (BACK, SPREAD)]
    operators = {s.base_name: [callee(NativeFunction(s, "lib"))] for s in schemas}
    tree, found = parse_formula(formula)
    assert tree is not None, found
    assert write(in_python(type_formula(tree, Scope({}, {}, operators.__getitem__)), WORDS)) == text


LONG = "gradient_of_the_only_result_that_there_is"


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
def test_layout_keeps_the_meaning_of_any_formula(formula: str) -> None:
    text = f"class C:\n    def f(self):\n        g = {written(formula)}\n"
    laid_out = lay_out("formula.py", text)
    assert ast.dump(ast.parse(laid_out)) == ast.dump(ast.parse(text))
    assert lay_out("formula.py", laid_out) == laid_out
