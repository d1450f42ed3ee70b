"""Targets refuse formulas that their language cannot express; adjacent signs stay separate."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import Generated, generate_all

ENTRY = """\
- func: lib::f(Tensor self) -> Tensor
  dispatch:
    CPU: f
  derivatives:
    self: "{}"
"""


def generated(formula: str, target: str) -> Generated:
    source = Source("ops.yaml", ENTRY.format(formula))
    functions, found = load_native_functions([source])
    options = {"torch-python": {"package": "ops", "defines": True}}
    config = Config(Path("nowhere"), target_options=options)
    program = build_program(functions, config, diagnostics=found, sources=[source])
    return generate_all(program, targets=[target])


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("where(grad > 0, grad, [](int i) {{ return i; }})", "Python cannot run a lambda of C++"),
        ("grad * *self", "Python has no `*` before a value"),
        ("grad * M_PI", "`M_PI` is a constant of C++"),
        ("grad->sum()", "Python has no `->`"),
        ("sum(grad, std::nullopt)", "`std::nullopt` is a name of C++"),
        ("lambda(grad)", "`lambda` is a reserved word in Python"),
    ],
)
def test_what_is_not_python_is_refused(formula: str, message: str) -> None:
    found = generated(formula, "torch-python").diagnostics
    assert [(d.code, d.message) for d in found if d.severity == "error"] == [("TG540", message)]


def test_a_method_that_is_a_reserved_word_is_named_as_that_once() -> None:
    found = generated("grad.class()", "torch-python").diagnostics
    assert [(d.code, d.message) for d in found if d.severity == "error"] == [
        ("TG540", "`class` is a reserved word in Python"),
    ]


def test_no_gradient_goes_through_lists_in_a_list() -> None:
    """`torch::autograd::set_history` takes tensors and lists of them."""
    source = Source("ops.yaml", ENTRY.format("g(grad)").replace("-> Tensor", "-> Tensor[][]"))
    functions, found = load_native_functions([source])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])
    errors = [d for d in program.diagnostics if d.severity == "error"]
    assert [d.code for d in errors] == ["TG325"]


def test_two_signs_are_not_one_operator_of_cpp() -> None:
    text = generated("- -grad * (+ + +1)", "cpp-torch").files["cpp-torch/src/register_autograd.cpp"]
    assert "grad_self_ = -(-grad) * +(+(+1));" in text
