"""Every operator of the reference set says how it is differentiated, or that it isn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.derive.names import operator_name
from torchgen_lite.analysis.differentiability import is_tensor_like, match_derivatives
from torchgen_lite.analysis.dispatch_index import effective_dispatch
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

ROOT = Path(__file__).parents[2]
# Backward of these says that they have no formula: PyTorch's has none for the first two either, and the
# others are about sparse tensors (docs/autograd.md).
WITHOUT = {
    "floor_divide",
    "floor_divide.Scalar",
    "floor_divide_.Tensor",
    "floor_divide_.Scalar",
    "view.dtype",
    "resize_",
    "_coalesce",
    "_values",
    "values",
    "_to_dense",
    "_to_sparse",
    "_to_sparse.sparse_dim",
}


def needs_formula(function: NativeFunction) -> bool:
    schema = function.func
    return (
        any(is_tensor_like(value.type) for value in schema.returns)
        and any(is_tensor_like(argument.type) for argument in schema.arguments)
        and schema.kind() is not SchemaKind.out
        and {e.key for e in effective_dispatch(function)} != {"CompositeImplicitAutograd"}
    )


def test_every_operator_has_formulas_or_says_that_it_needs_none() -> None:
    program = load(root=ROOT)
    matches = match_derivatives(program.functions).of
    missing = {
        function.func.full_name
        for function in program.functions
        if needs_formula(function) and operator_name(function) not in matches
    }
    assert missing <= WITHOUT
    assert not missing & {"mul.Tensor", "mul_.Tensor"}


@pytest.mark.parametrize(
    "name", ["add.Tensor", "select.int", "native_layer_norm", "nll_loss_forward"]
)
def test_formulas_name_every_tensor(name: str) -> None:
    function = load(root=ROOT).find(name)
    assert function is not None and function.derivatives is not None
    named = {n for formula in function.derivatives.formulas for n in formula.names}
    assert named >= {a.name for a in function.func.arguments if is_tensor_like(a.type)}
