"""Formulas of operators that write beside their results, and what they may not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all

ONE = "f(Tensor x, Tensor(a!) seen) -> Tensor"
LIST = "f(Tensor(a!)[] seen, Tensor x) -> Tensor"
ABSENT = "f(Tensor x, Tensor(a!)? seen=None) -> Tensor"
TWO = "f(Tensor(a!) low, Tensor x, Tensor(b!) high) -> (Tensor, Tensor)"
RETURNED = "f(Tensor x, Tensor(a!) seen) -> (Tensor, Tensor(a!))"
SELF = "f(Tensor(a!) self, Tensor x) -> Tensor"
IN_PLACE = "f_(Tensor(a!) self, Tensor x, Tensor(b!) seen) -> Tensor(a!)"
NO_LIST = "f(Tensor x, Tensor(a!)[]? seen=None) -> Tensor"
NOTHING = "f(Tensor x, Tensor(a!) seen) -> ()"
OUT = "f(Tensor x, *, Tensor(a!) seen) -> Tensor"

READS = "'my::f' writes to '{}', and a formula reads it: before the call or after it?"


def entry(schema: str, formulas: list[str]) -> Program:
    lines = "".join(f"    {formula}\n" for formula in formulas)
    text = f"- func: my::{schema}\n  dispatch: {{'CPU, Meta': f}}\n  derivatives:\n{lines}"
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    options = {"torch-python": {"package": "ops", "defines": True}}
    config = Config(Path("nowhere"), target_options=options)
    return build_program(functions, config, diagnostics=found, sources=[source])


def said(program: Program) -> list[str]:
    found = [one for one in program.diagnostics if one.severity != "note"]
    return [f"{one.code} {one.message}".replace("`", "'") for one in found]


@pytest.mark.parametrize(
    ("schema", "formulas"),
    [
        (ONE, ["x: grad * x"]),
        (ONE, ["x: grad", "seen: not_differentiable"]),
        (ONE, ["x: grad * seen.size(0) * seen.numel() + zeros_like(seen)"]),
        (ONE, ["x: grad.to(seen.dtype)"]),
        (ONE, ["x: grad * result", "result: x_t * x_p"]),
        (LIST, ["x: grad"]),
        (ABSENT, ["x: grad"]),
        (TWO, ["x: grads[0] + grads[1] * high.size(0)"]),
        (SELF, ["x: grad"]),
    ],
)
def test_what_is_written_needs_no_formula(schema: str, formulas: list[str]) -> None:
    program = entry(schema, formulas)
    assert said(program) == []
    for target in ("torch-python", "cpp-torch", "python"):
        generated = generate_all(program, targets=[target])
        assert generated.diagnostics == (), target
        assert generated.files


@pytest.mark.parametrize(
    ("schema", "formulas", "message"),
    [
        (ONE, ["x: grad * seen"], READS.format("seen")),
        (ONE, ["x: grad * seen.sum()"], READS.format("seen")),
        (ONE, ["x: 'grad * (seen.is_contiguous() ? 1 : 2)'"], READS.format("seen")),
        (ONE, ["let: {a: seen * 2}", "x: grad * a"], READS.format("seen")),
        (LIST, ["x: grad * seen[0]"], READS.format("seen")),
        (ABSENT, ["x: 'seen.defined() ? grad : grad * 2'"], READS.format("seen")),
        (TWO, ["x: grads[0] + grads[1] * high"], READS.format("high")),
        (SELF, ["x: grad * self"], READS.format("self")),
        (ONE, ["x: grad", "result: x_t * seen_p"], READS.format("seen")),
        (ONE, ["x: grad", "result: x_t + seen_t"], READS.format("seen")),
        (
            ONE,
            ["x: grad", "result: auto_linear"],
            "'auto_linear' would call 'my::f' again, which writes to an argument",
        ),
        (ONE, ["x: grad", "seen: grad"], "'my::f' writes to 'seen', which has no gradient"),
        (ONE, ["seen: grad"], "'my::f' writes to 'seen', which has no gradient"),
        (
            RETURNED,
            ["x: grads[0]"],
            "'my::f' returns what it is given, and formulas are for results that are new",
        ),
        (
            IN_PLACE,
            ["self: grad", "x: grad"],
            "'my::f_' writes to 'seen', and formulas of operators in place are for those that write to 'self' alone",
        ),
        (NO_LIST, ["x: grad"], "'my::f' writes to a list that may be absent, 'seen'"),
        (NOTHING, ["x: grad"], "'my::f' has no result that is a tensor"),
        (OUT, ["x: grad"], "'my::f' is an out variant, which is never differentiable"),
    ],
)
def test_which_value_is_meant_has_to_be_clear(
    schema: str, formulas: list[str], message: str
) -> None:
    assert f"TG325 {message}" in said(entry(schema, formulas))


def test_the_formula_is_shown() -> None:
    (one,) = entry(ONE, ["x: grad * seen"]).diagnostics
    assert one.label is not None
    assert one.label.span.text == "seen"


def test_other_tensors_still_need_a_formula() -> None:
    found = said(entry("f(Tensor x, Tensor y, Tensor(a!) seen) -> Tensor", ["x: grad"]))
    assert found == ["TG324 no formula for 'y': a call raises an error if it requires a gradient"]


def test_no_formulas_are_those_of_a_functional_variant() -> None:
    """It returns what the other one writes, and may read it."""
    text = """\
- func: my::f(Tensor x, Tensor seen) -> (Tensor, Tensor)
  dispatch: {'CPU, Meta': f}
  derivatives:
    x: grads[0] * seen
    seen: grads[0] * x + grads[1]
- func: my::f.noting(Tensor x, Tensor(a!) seen) -> Tensor
  dispatch: {'CPU, Meta': f_noting}
"""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    config = Config(
        Path("nowhere"), target_options={"torch-python": {"package": "ops", "defines": True}}
    )
    plans = build_program(functions, config, diagnostics=found, sources=[source]).resolved.autograd
    assert plans["my::f"].info is not None
    assert plans["my::f.noting"].info is None
