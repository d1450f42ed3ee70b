"""TG422: a result that counts as differentiable, and whose gradient no formula uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load

# A schema, its formulas, and the gradient that is missing, if one is.
CASES = [
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: grad_y}", "grad_z"),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: grad_z}", "grad_y"),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: 'grads[0]'}", "grads[1]"),
    ("f(Tensor x) -> (Tensor, Tensor)", "{x: 'grads[1]'}", "grads[0]"),
    ("f(Tensor x) -> (Tensor y, Tensor[] zs)", "{x: grad_y}", "grad_zs"),
    (
        "f(Tensor x) -> (Tensor y, Tensor z)",
        "{x: grad_y, output_differentiability: [True, True]}",
        "grad_z",
    ),
    (
        "f(Tensor x) -> (Tensor w, Tensor y, Tensor z)",
        "{x: 'grads[0]', output_differentiability: [True, False, True]}",
        "grads[1]",
    ),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: grad_y + grad_z}", ""),
    ("f(Tensor x, Tensor w) -> (Tensor y, Tensor z)", "{x: grad_y, w: grad_z}", ""),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: 'grads[0] + grads[1]'}", ""),
    ("f(Tensor x, int n) -> (Tensor y, Tensor z)", "{x: 'grads[n]'}", ""),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: g(grads)}", ""),
    ("f(Tensor x) -> Tensor[]", "{x: 'grads[0]'}", ""),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: grad}", ""),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: not_implemented('f')}", ""),
    ("f(Tensor x) -> (Tensor y, Tensor z)", "{x: grad_y, z: not_differentiable}", ""),
    ("f(Tensor x) -> (Tensor y, int z)", "{x: grad_y}", ""),
    (
        "f(Tensor x) -> (Tensor y, Tensor z)",
        "{x: grad_y, output_differentiability: [True, False]}",
        "",
    ),
]


@pytest.mark.parametrize("schema, formulas, missing", CASES)
def test_a_gradient_that_no_formula_uses(
    tmp_path: Path, schema: str, formulas: str, missing: str
) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(f"- func: my::{schema}\n  dispatch: {{CPU: f}}\n  derivatives: {formulas}\n")
    found = [d for d in load([path]).diagnostics if d.code == "TG422"]
    assert [d.message.split("`")[1] for d in found] == ([missing] if missing else [])


def test_an_integer_that_needs_no_gradient_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- func: my::f(Tensor x) -> (Tensor y, Tensor z)\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {y: {like: x}, z: {like: x, dtype: int64}}\n"
        "  derivatives: {x: grad_y}\n"
    )
    assert [d.code for d in load([path]).diagnostics] == ["TG343"]


def test_the_help_is_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- func: my::f(Tensor x) -> (Tensor y, int n, Tensor z)\n"
        "  dispatch: {CPU: f}\n"
        "  derivatives: {x: grad_y}\n"
    )
    (found,) = [d for d in load([path]).diagnostics if d.code == "TG422"]
    assert found.help == "use it, or write `output_differentiability: [True, False, False]`"
