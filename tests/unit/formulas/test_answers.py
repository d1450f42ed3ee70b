"""What is said to those who write Python where an expression stands."""

from __future__ import annotations

import pytest

from torchgen_lite.formulas.mistakes import (
    answer_in_a_formula,
    answer_in_a_rule,
    correction_in_a_rule,
)
from torchgen_lite.formulas.parser import parse_formula

PAGE = "docs/torch-python-target.md has the language"
SIZES = "write the sizes one by one: `[x.size(0), x.size(1)]`"


@pytest.mark.parametrize(
    ("text", "in_a_rule", "in_a_formula"),
    [
        (
            "x.shape[:-1]",
            f"write `reduced(x, -1, False)`, all sizes but that of dimension -1; {PAGE}",
            SIZES,
        ),
        (
            "x.shape[1:]",
            f"write `reduced(x, 0, False)`, all sizes but that of dimension 0; {PAGE}",
            SIZES,
        ),
        ("x.size()[0:2]", f"{SIZES}; {PAGE}", SIZES),
        (
            "a // b",
            f"write `floor_div(a, b)`; {PAGE}",
            "write `floor_divide(x, y)` of tensors, and `a / b` of integers, which gives an integer",
        ),
        (
            "dtype or x.dtype",
            f"write `default(dtype, x.dtype)`, or `dtype || x.dtype` for conditions; {PAGE}",
            "write `dtype || x.dtype`",
        ),
        ("x.dim() and n", "write `x.dim() && n`", "write `x.dim() && n`"),
        ("not train", "write `!train`", "write `!train`"),
        ("w is not None", "write `w.defined()`", "write `w.defined()`"),
        ("1 if w is None else 2", "write `!w.defined()`", "write `!w.defined()`"),
        ("1 if n else 2", "write `n ? 1 : 2`", "write `n ? 1 : 2`"),
        ("f(x, [1, 2", "write the `)` that closes it", "write the `)` that closes it"),
        ("x @ y.t()", None, "write `matmul(x, y.t())`"),
        ("x ** 2", "write `x * x`", "write `pow(x, 2)`"),
        (
            "x.size(0) ** 3",
            "write `x.size(0) * x.size(0) * x.size(0)`",
            "write `pow(x.size(0), 3)`",
        ),
        ("(a + b) ** n", "write a product: `a * a`", "write `pow(x, n)`"),
        ("x[:, 0]", None, "write `x.select(dim, index)`, or `x.narrow(dim, start, length)`"),
        ("x[..., 0]", None, "write `x.select(dim, index)`, or `x.narrow(dim, start, length)`"),
        ("f(x, (0, 1))", "write a list: `[0, 1]`", "write a list: `[0, 1]`"),
        ("(n,)", "write a list: `[n]`", "write a list: `[n]`"),
        (
            "x.shape[0] if n > 1 else x.size(1)",
            "write `n > 1 ? x.shape[0] : x.size(1)`",
            "write `n > 1 ? x.shape[0] : x.size(1)`",
        ),
        ("x !", None, None),
    ],
)
def test_what_to_write(text: str, in_a_rule: str | None, in_a_formula: str | None) -> None:
    assert answer_in_a_rule(text) == in_a_rule
    assert answer_in_a_formula(text) == in_a_formula


@pytest.mark.parametrize(
    ("text", "corrected", "is_certain"),
    [
        ("x.shape[:-1]", "reduced(x, -1, False)", True),
        ("concat(x.size()[1:], [n])", "concat(reduced(x, 0, False), [n])", True),
        ("dtype or x.dtype", "default(dtype, x.dtype)", False),
    ],
)
def test_the_edit_is_an_expression(text: str, corrected: str, is_certain: bool) -> None:
    correction = correction_in_a_rule(text)
    assert correction is not None
    assert correction.applied(text) == corrected
    assert correction.is_certain == is_certain
    assert parse_formula(corrected)[0] is not None


@pytest.mark.parametrize(
    "text", ["x.shape[0:2]", "x.shape[:-1] if n else y", "a or b or c", "x.shape[:-1", "x @ y", "x"]
)
def test_what_stays_wrong_has_no_edit(text: str) -> None:
    assert correction_in_a_rule(text) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("grad * (x", (7, 8)),
        ("f(g(x)", (1, 2)),
        ("f(g(x", (3, 4)),
        ("[1, 2", (0, 1)),
        ("x[0", (1, 2)),
    ],
)
def test_an_open_bracket_is_the_place(text: str, place: tuple[int, int]) -> None:
    _, (found,) = parse_formula(text)
    assert found.label is not None
    assert found.message == f"`{text[place[0]]}` is not closed"
    assert found.label.span[1:] == place


@pytest.mark.parametrize("word", ["a", "a ", "a.", "a or ", "a if ", "not ", "a[", "a.shape[", " "])
def test_a_text_of_any_length_is_answered_at_once(word: str) -> None:
    """Patterns that try every place of a long text do not end."""
    text = f"${word * 30_000}"
    assert {answer_in_a_formula(text), answer_in_a_rule(text)} <= {
        None,
        "write the `]` that closes it",
    }
