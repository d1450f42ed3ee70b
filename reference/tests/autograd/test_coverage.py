"""Every operator of the reference set says how it is differentiated, or that it isn't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torchgen_lite_reference as tl
from torchgen_lite import load
from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

ROOT = Path(__file__).parents[3]
# PyTorch has no formulas for these either (`test_what_has_no_formula_has_none_in_torch`): backward says so, and
# `resize_` is refused where it would have to be recorded.
WITHOUT = {
    "floor_divide",
    "floor_divide.Scalar",
    "floor_divide_.Tensor",
    "floor_divide_.Scalar",
    "resize_",
    "scatter.reduce",
    "scatter.value_reduce",
    "scatter_.reduce",
    "scatter_.value_reduce",
}


def leaf(library: Any) -> Any:
    return library.tensor([3.0, 4.0], requires_grad=True)


PROGRAMS: list[Callable[[Any], Any]] = [
    lambda lib: lib.floor_divide(leaf(lib), lib.tensor([2.0])).sum().backward(),
    lambda lib: lib.floor_divide(leaf(lib), 2).sum().backward(),
    lambda lib: (leaf(lib) * 1).floor_divide_(2).sum().backward(),
    lambda lib: (
        lib.scatter(leaf(lib), 0, lib.tensor([0]), lib.ones(1), reduce="add").sum().backward()
    ),
    lambda lib: lib.scatter(leaf(lib), 0, lib.tensor([0]), 2.0, reduce="add").sum().backward(),
    lambda lib: leaf(lib).resize_([3]),
    lambda lib: leaf(lib).view(lib.int32).requires_grad,
]


def needs_formula(function: NativeFunction) -> bool:
    schema = function.func
    return (
        any(is_tensor_like(value.type) for value in schema.returns)
        and any(is_tensor_like(argument.type) for argument in schema.arguments)
        and schema.kind() is not SchemaKind.out
        and {e.key for e in own_kernels(function)} != {"CompositeImplicitAutograd"}
    )


def test_every_operator_has_formulas_or_says_that_it_needs_none() -> None:
    program = load(root=ROOT)
    plans = program.resolved.autograd
    missing = {
        function.func.full_name
        for function in program.functions
        if needs_formula(function) and not (function.name in plans and plans[function.name].infos)
    }
    assert missing == WITHOUT


@pytest.mark.torch
@pytest.mark.parametrize(
    "program",
    PROGRAMS,
    ids=["function", "leaf", "inplace", "scatter", "number", "resize", "dtype"],
)
def test_what_has_no_formula_has_none_in_torch(program: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    outcomes = [outcome(program, library) for library in (tl, torch)]
    assert outcomes[0] == outcomes[1]


def outcome(program: Callable[[Any], Any], library: Any) -> Any:
    """What a program gives, or what its message says before the names of overloads begin."""
    try:
        return program(library)
    except RuntimeError as error:
        return "is not implemented" in str(error) or str(error)


@pytest.mark.parametrize(
    "name", ["add.Tensor", "select.int", "native_layer_norm", "nll_loss_forward"]
)
def test_formulas_name_every_tensor(name: str) -> None:
    operator = load(root=ROOT).resolved.find(name)
    assert operator is not None
    function = operator.function
    assert function.derivatives is not None
    named = {n for formula in function.derivatives.formulas for n in formula.names}
    assert named >= {a.name for a in function.func.arguments if is_tensor_like(a.type)}
