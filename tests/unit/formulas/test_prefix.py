"""Expressions with the prefix `torch.`, and the same without."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from torchgen_lite.formulas.model import Name, walk
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.prefix import text_without_prefix, without_prefix


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("torch.where(m, grad, torch.zeros_like(grad))", "where(m, grad, zeros_like(grad))"),
        ("-torch.exp(x).sum(dim=torch.argmax(y))[0]", "-exp(x).sum(dim=argmax(y))[0]"),
        ("a ? torch.f(x) : {torch.g(y)}", "a ? f(x) : {g(y)}"),
        ("randn(3, dtype=torch.float64)", "randn(3, dtype=float64)"),
        ("torch.channels_last", "channels_last"),
        # What is no function of the module itself is left as it is, and so is a string.
        ("torch.nn.functional.silu(x)", None),
        ("torch.pi * x", None),
        ("x.torch.f(y)", None),
        ("torch->f(y)", None),
        ('not_implemented("torch.f(x)")', None),
    ],
)
def test_it_is_left_out(text: str, plain: str | None) -> None:
    tree, _ = parse_formula(text)
    assert tree is not None
    assert str(without_prefix(tree)) == (plain or str(tree))
    assert without_prefix(tree) == parse_formula(plain or text)[0]
    if plain is not None:
        assert text_without_prefix(text) == plain


def test_the_text_of_a_string_is_kept() -> None:
    text = "torch.f(x, 'torch.g') * nottorch.h(y)"
    assert text_without_prefix(text) == "f(x, 'torch.g') * nottorch.h(y)"


@pytest.mark.parametrize(
    ("taken", "text"),
    [(["torch"], "torch.f(x.to(torch.float32))"), (["float32"], "f(x.to(torch.float32))")],
)
def test_a_name_of_an_argument_is_that_argument(taken: Collection[str], text: str) -> None:
    tree, _ = parse_formula("torch.f(x.to(torch.float32))")
    assert tree is not None
    assert str(without_prefix(tree, taken)) == text


def test_the_place_is_that_of_the_whole_name() -> None:
    tree, _ = parse_formula("x * torch.f(torch.float32)")
    assert tree is not None
    (word,) = [n for n in walk(without_prefix(tree)) if n == Name("float32")]
    assert word.span is not None
    assert word.span.text == "torch.float32"
