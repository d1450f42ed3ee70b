"""TG347: a formula that is not linear in the gradient, with the part that makes it so."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.differentiability.info import formula_scope
from torchgen_lite.analysis.differentiability.linear import nonlinear
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.schema import FunctionSchema

SCHEMA = "f(Tensor x, Tensor[] ys, int n, bool flag) -> (Tensor a, Tensor b)"
FORMULAS = {
    "grad * x": "",
    "-grad / x + grad_b.sum() * n": "",
    "grad.defined() ? grad * 2 : None": "",
    "flag ? grad : zeros_like(x)": "",
    "zeros_like(x) + grad": "",
    "cat({grad, grads[1]}, 0)": "",
    "f_backward(grad, grad_b, x)": "",
    "where(x > 0, grad, grad * x.exp())": "",
    "grad.reshape(grad.size(0), -1) * grad.dim()": "",
    "not_implemented('f')": "",
    "x * 2": "x * 2",
    "grad + 1": "grad + 1",
    "x - grad": "x - grad",
    "x * (grad + n) * 2": "grad + n",
    "grad * grad": "grad * grad",
    "grad * (x * grad_b.sum())": "grad * (x * grad_b.sum())",
    "x / grad": "x / grad",
    "where(grad > 0, x, grad)": "grad > 0",
    "grad % 2": "grad % 2",
    "grad.exp() * x": "grad.exp()",
    "tanh(grad)": "tanh(grad)",
    "flag ? grad : x": "flag ? grad : x",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_the_part_that_is_not_linear(text: str) -> None:
    expression, mistakes = parse_formula(text)
    assert expression is not None and not mistakes
    tree = type_formula(expression, formula_scope(FunctionSchema.parse(SCHEMA), lambda name: ()))
    found = nonlinear(tree, {"grad", "grads", "grad_a", "grad_b"})
    assert ("" if found is None else str(found.node)) == FORMULAS[text]
