"""TG347: a formula that is not linear in the gradient, with the part that makes it so."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.differentiability.info import formula_scope
from torchgen_lite.analysis.differentiability.linear import is_unknown, nonlinear
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.tree import Typed
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
    "grad * ones_like(grad) - zeros_like(grad)": "",
    "einsum('ij,ij->ij', {grad, x})": "",
    "grad.add(grad_b) + grad.lerp(grad_b, 0.5)": "",
    "addmm(grad, x, grad_b.t())": "",
    "grad.new_ones({2}) * grad.sum()": "",
    "masked_fill(grad, x > 0, 0)": "",
    "helper(grad) + helper(x)": "",
    "x * 2": "x * 2",
    "grad + x.exp()": "grad + x.exp()",
    "grad.add(x)": "grad.add(x)",
    "sub(grad, n)": "sub(grad, n)",
    "rsub(grad, 1)": "rsub(grad, 1)",
    "grad.lerp(x, 0.5)": "grad.lerp(x, 0.5)",
    "grad.lerp(grad_b, grad)": "grad.lerp(grad_b, grad)",
    "addcmul(grad, x, x)": "addcmul(grad, x, x)",
    "addcmul(grad, grad, grad_b)": "addcmul(grad, grad, grad_b)",
    "einsum('i,i->i', {grad, grad_b})": "einsum('i,i->i', {grad, grad_b})",
    "cat({grad, x}, 0)": "{grad, x}",
    "masked_fill(grad, x > 0, 1)": "masked_fill(grad, x > 0, 1)",
    "maximum(grad, x)": "maximum(grad, x)",
    "hypot(x, grad)": "hypot(x, grad)",
    "grad - grad.detach()": "grad.detach()",
    "grad * grad.sum().item()": "grad.sum().item()",
    "grad.sum().item() > 0 ? grad : None": "grad.sum().item()",
    "grad.sort(0)[0]": "grad.sort(0)",
    "x.index_select(0, grad)": "x.index_select(0, grad)",
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


GRADIENTS = {"grad", "grads", "grad_a", "grad_b"}


def typed(text: str) -> Typed:
    expression, mistakes = parse_formula(text)
    assert expression is not None and not mistakes
    return type_formula(expression, formula_scope(FunctionSchema.parse(SCHEMA), lambda name: ()))


@pytest.mark.parametrize("text", FORMULAS)
def test_the_part_that_is_not_linear(text: str) -> None:
    found = nonlinear(typed(text), GRADIENTS)
    assert ("" if found is None else str(found.node)) == FORMULAS[text]


@pytest.mark.parametrize(
    "text",
    [
        "helper(grad)",
        "grad + helper(x)",
        "helper(grad).exp()",
        "grad.div(x, 'floor')",
        "grad.scatter(0, x, x, reduce='add')",
        "rand_like(grad) * grad",
        "flag ? grad : helper(x)",
        "my::add(grad, x)",
    ],
)
def test_what_is_not_known_is_tried(text: str) -> None:
    assert is_unknown(typed(text), GRADIENTS)


@pytest.mark.parametrize(
    "text", ["grad * helper(x)", "helper(x)", "mse_loss_backward(grad, x, x, 1)"]
)
def test_what_is_known_is_not_tried(text: str) -> None:
    assert not is_unknown(typed(text), GRADIENTS)
