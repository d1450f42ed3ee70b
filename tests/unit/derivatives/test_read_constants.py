"""TG434: a result without a gradient that a formula reads, which second derivatives take for a constant."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load

OPERATORS = """\
- func: my::refused(Tensor g, Tensor x, Tensor s) -> Tensor
  dispatch: {CPU: f}
- func: my::answered(Tensor g, Tensor x, Tensor s) -> Tensor
  dispatch: {CPU: f}
  derivatives: {g: grad * x * s, x: grad * g * s, s: not_differentiable}
- func: my::composed(Tensor g, Tensor x, Tensor s) -> Tensor
  dispatch: {CompositeImplicitAutograd: f}
"""
TWO = "f(Tensor x) -> (Tensor y, Tensor s)"
# A schema, its `fake`, its formulas, and the results that are read as constants.
CASES = [
    (TWO, "", "{x: grad_y * s}", "s"),
    (TWO, "", "{x: grad_y * s * s}", "s"),
    (TWO, "", "{let: {t: s + 1}, x: grad_y * t}", "s"),
    (TWO, "", "{x: 'x.dim() > 1 ? grad_y * s : grad_y'}", "s"),
    (TWO, "", "{x: 'helper(grad_y, s)'}", "s"),
    (TWO, "", "{x: 'where(x > 0, s, grad_y)'}", "s"),
    (TWO, "{s: {like: x, dtype: float64}}", "{x: grad_y * s}", "s"),
    ("f(Tensor x) -> (Tensor y, Tensor[] s)", "", "{x: 'grad_y * s[0]'}", "s"),
    ("f(Tensor x) -> (Tensor y, Tensor s, Tensor t)", "", "{x: grad_y * s * t}", "s t"),
    ("f(Tensor x) -> (Tensor, Tensor)", "", "{x: grad * result1}", "result1"),
    # An operator of the file that answers for one of its arguments, or for all, or for none.
    (TWO, "", "{x: 'refused(grad_y, x, s)'}", ""),
    (TWO, "", "{x: 'answered(grad_y, x, s)'}", ""),
    (TWO, "", "{x: 'my::answered(grad_y, x, s=s)'}", ""),
    (TWO, "", "{x: 'answered(grad_y, s, x)'}", "s"),
    (TWO, "", "{x: 'answered(grad_y, x=s, s=s)'}", "s"),
    (TWO, "", "{x: 'composed(grad_y, x, s)'}", "s"),
    # What is no tensor of numbers, and what is a constant.
    (TWO, "{s: {like: x, dtype: int64}}", "{x: 'grad_y.gather(0, s)'}", ""),
    (
        "f(Tensor x, ScalarType? t=None) -> (Tensor y, Tensor s)",
        "{s: {like: x, dtype: 'default(t, int64)'}}",
        "{x: 'grad_y.gather(0, s)'}",
        "",
    ),
    (TWO, "{s: {like: x, dtype: bool}}", "{x: 'grad_y.masked_fill(s, 0)'}", ""),
    (TWO, "", "{x: grad_y * s.size(0)}", ""),
    (TWO, "", "{x: 'where(s > 0, grad_y, zeros_like(s))'}", ""),
    (TWO, "", "{x: grad_y * y}", ""),
    (TWO, "", "{x: grad_y * x}", ""),
    ("f(Tensor x) -> (Tensor y, int s)", "", "{x: grad * s}", ""),
]


@pytest.mark.parametrize("schema, fake, formulas, read", CASES)
@pytest.mark.parametrize("way", ["flags", "word"])
def test_a_result_without_a_gradient_that_is_read(
    tmp_path: Path, schema: str, fake: str, formulas: str, read: str, way: str
) -> None:
    results = schema.partition("-> (")[2].count(",")
    if way == "flags":
        said = f"output_differentiability: [True{', False' * results}]"
    else:
        names = ["s", "t"] if " s" in schema.partition("->")[2] else ["result1"]
        said = f"'{', '.join(names[:results])}': not_differentiable"
    rule = f"  fake: {fake.replace('{', '{y: {like: x}, ', 1)}\n" if fake else ""
    entry = (
        f"- func: my::{schema}\n  dispatch: {{CPU: f}}\n{rule}"
        f"  derivatives: {formulas[:-1]}, {said}}}\n"
    )
    path = tmp_path / "ops.yaml"
    path.write_text(OPERATORS + entry)
    found = [d for d in load([path]).diagnostics if d.code == "TG434"]
    assert [d.message.split("`")[1] for d in found] == read.split()


def test_entries_of_pytorch_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- func: f(Tensor x) -> (Tensor y, Tensor s)\n"
        "  dispatch: {CPU: f}\n"
        "  derivatives: {x: grad_y * s, output_differentiability: [True, False]}\n"
    )
    assert "TG434" not in [d.code for d in load([path]).diagnostics]
