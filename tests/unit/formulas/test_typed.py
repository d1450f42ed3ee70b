"""One typing for every language of formulas: the kinds of values, and what closed languages refuse."""

from __future__ import annotations

import pytest

from torchgen_lite.formulas.facts import Saved
from torchgen_lite.formulas.kinds import (
    BOOL,
    DTYPE,
    FLOAT,
    INT,
    INTS,
    SYMINT,
    SYMINTS,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Kind,
)
from torchgen_lite.formulas.language import CERTAIN, GRADIENTS, RULES, SAMPLES, Language
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.tree import Scope, Typed, every_part, saved_in
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.languages.cpp.formula import Functions, write
from torchgen_lite.schema.dispatch_kind import DispatchKind

NAMES = {
    "x": TENSOR,
    "w": TENSOR._replace(is_optional=True),
    "xs": TENSORS,
    "n": INT,
    "flag": BOOL,
    "dtype": DTYPE,
}


def typed(text: str, language: Language) -> Typed:
    tree, found = parse_formula(text)
    assert tree is not None, found
    return type_formula(tree, Scope(NAMES, language=language))


def mistakes(tree: Typed) -> list[str]:
    return [part.mistake.message for part in every_part(tree) if part.mistake is not None]


@pytest.mark.parametrize(
    ("formula", "in_gradients", "in_rules"),
    [
        # Symbolic integers are integers in rules, which become Python; C++ has functions for them.
        ("x.size()", SYMINTS, INTS),
        ("x.size(0)", SYMINT, INT),
        ("x.stride(-1)", SYMINT, INT),
        ("x.shape[0] + 1", SYMINT, INT),
        ("x.numel()", SYMINT, INT),
        # `aten::sym_size` without a dimension gives all sizes.
        ("x.sym_size()", SYMINTS, INTS),
        ("x.storage_offset()", INT, INT),
        # A boolean counts as an integer, in Python and in C++.
        ("flag + 1", INT, INT),
        ("-flag", INT, INT),
        ("flag / 2", FLOAT, FLOAT),
        # What is compared and is no tensor gives a boolean; tensors give one of elements.
        ("x.dtype == dtype", BOOL, BOOL),
        ("x.shape == x.size()", BOOL, BOOL),
        ("x == x", TENSOR, TENSOR),
        ("n < 2", BOOL, BOOL),
        ("1E5", FLOAT, FLOAT),
        ("w.defined() ? n : 2", INT, INT),
        ("xs[0]", TENSOR, TENSOR),
    ],
)
def test_a_value_has_one_kind_in_every_language(
    formula: str, in_gradients: Kind, in_rules: Kind
) -> None:
    assert typed(formula, GRADIENTS).kind == in_gradients
    assert typed(formula, CERTAIN).kind == in_gradients
    tree = typed(formula, RULES)
    assert (tree.kind, mistakes(tree)) == (in_rules, [])


@pytest.mark.parametrize(
    ("formula", "assumed"),
    [
        ("f(x)", TENSOR),
        ("x.foo()", TENSOR),
        ("x.foo", TENSOR),
        ("x.options()", UNKNOWN),
    ],
)
def test_what_no_table_has_is_assumed_but_not_certain(formula: str, assumed: Kind) -> None:
    assert typed(formula, GRADIENTS).kind == assumed
    assert typed(formula, CERTAIN).kind == UNKNOWN
    assert mistakes(typed(formula, GRADIENTS)) == []
    assert len(mistakes(typed(formula, RULES))) == 1


def test_a_method_of_a_number_makes_no_tensor() -> None:
    kinds = [typed(text, GRADIENTS).kind for text in ("w.foo()", "f(n).foo()", "n.toFloat()")]
    assert kinds == [TENSOR, TENSOR, UNKNOWN]


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("m + 1", ["unknown name `m` in a rule"]),
        ("n / 2", ["`/` gives no integer"]),
        ("w.size(0)", ["`w` is a tensor or None, and a tensor is needed here"]),
        ("w.defined() ? w.size(0) : 1", []),
        ("!w.defined() ? 1 : w.size(0)", []),
        ("w.defined() && w.dim() == 2", []),
        ("!w.defined() || w.dim() == 2", []),
        ("!w.defined() || x.dim() == 1 || w.dim() == 2", []),
        ("x.defined()", ["`x` is not optional"]),
        ("x.size(0, 1)", ["`size` does not take this"]),
        (
            "len(x)",
            [
                "`x` is a tensor, and a list of booleans or a list of floats or a list of integers or a list of tensors is needed here"
            ],
        ),
        ("max(n)", ["`max` takes at least 2 arguments, not 1"]),
        ("real(m, dtype)", ["`real` takes 1 argument, not 2", "unknown name `m` in a rule"]),
        ("*n", ["C++ in a rule"]),
        ("x->size(0)", ["no method `size` in rules"]),
    ],
)
def test_rules_say_what_is_wrong_once(formula: str, said: list[str]) -> None:
    assert mistakes(typed(formula, RULES)) == said


def test_a_tensor_is_no_condition_of_a_rule() -> None:
    tree, _ = parse_formula("x == x")
    assert tree is not None
    scope = Scope(NAMES, language=RULES)
    assert mistakes(type_formula(tree, scope, frozenset({BOOL}))) == [
        "`x == x` is a tensor, and a boolean is needed here"
    ]


@pytest.mark.parametrize(
    ("formula", "kind"),
    [("[1, 2]", INTS), ("6 / 2", FLOAT), ("2 * 3", INT), ("randn(3).t()", TENSOR)],
)
def test_samples_are_typed_like_formulas(formula: str, kind: Kind) -> None:
    assert typed(formula, SAMPLES).kind == kind


@pytest.mark.parametrize(
    ("formula", "cpp"),
    [
        ("flag / 2", "static_cast<double>(flag) / 2"),
        ("x.sym_size()", "x.sym_sizes()"),
        ("1 - x.foo()", "at::rsub(x.foo(), 1)"),
        ("1 - n.toFloat()", "1 - n.toFloat()"),
        ("x.size()", "x.sym_sizes()"),
    ],
)
def test_cpp_means_what_python_means(formula: str, cpp: str) -> None:
    assert write(typed(formula, GRADIENTS), Functions("lib")) == cpp


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("grad * self", ["self"]),
        ("grad.expand(self.sym_sizes())", ["self_sym_sizes"]),
        ("grad.expand(self.shape)", ["self_shape"]),
        ("zeros_like(self) + other", ["self_info", "other"]),
        (
            "f(grad, self.sym_size(-1), self.dim(), self.sin())",
            [
                "self_sym_argsize_minus_1",
                "self_dim",
                "self",
            ],
        ),
        ('not_implemented("self")', []),
        ("result.self()", []),
    ],
)
def test_only_what_backward_uses_is_saved(text: str, saved: list[str]) -> None:
    tree, _ = parse_formula(text)
    assert tree is not None
    scope = Scope(
        {}, {name: Saved(name, carries=DispatchKind.tensor) for name in ("self", "other")}
    )
    assert [s.name for s in saved_in(type_formula(tree, scope))] == saved
