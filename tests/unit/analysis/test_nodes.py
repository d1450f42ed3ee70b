"""The plan of a node: what backward computes and when, and what names in formulas of tangents mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.nodes import plan_backward, reads_of
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.formulas.model import Expression, rebuild
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions


def info_of(schema: str, formulas: str) -> DifferentiabilityInfo:
    text = f"- func: my::{schema}\n  dispatch: {{CPU: f}}\n  derivatives:\n{formulas}"
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])
    info = program.resolved.autograd[functions[0].name].info
    assert info is not None
    return info


def written(tree: Typed) -> str:
    def node(part: Typed) -> Expression:
        return rebuild(part.node, [node(one) for one in part.parts]) if part.parts else part.node

    return str(node(tree))


TWO = "f(Tensor x, Tensor y, float s) -> Tensor"
SHARED = "    x: grad * s * y\n    y: grad * s * x\n"
SOME = "f(Tensor x, Tensor y, Tensor z) -> Tensor"
OF_SOME = "    x: grad * z.cos()\n    y: grad * z.cos().sin()\n    z: grad\n"


@pytest.mark.parametrize(
    ("schema", "formulas", "shared", "gradients"),
    [
        (TWO, SHARED, "shared0 = grad * s", "x if w0: shared0 * y; y if w1: shared0 * x"),
        # What some formulas use is computed if the gradient of one of them is wanted.
        (
            SOME,
            OF_SOME,
            "shared0 = z.cos() if w0 or w1",
            "x if w0: grad * shared0; y if w1: grad * shared0.sin(); z if w2: grad",
        ),
        # The tests are those of the slots, in the order in which a formula names its arguments.
        (TWO, "    y, x: both(grad, grad_input_mask)\n", "", "y, x if w1 or w0 (mask): both(grad, grad_input_mask)"),
    ],
)  # fmt: skip
def test_what_backward_computes(schema: str, formulas: str, shared: str, gradients: str) -> None:
    plan = plan_backward(info_of(schema, formulas), "w{}".format, written)
    values = []
    for value in plan.shared:
        test = f" if {' or '.join(value.wanted)}" if value.wanted else ""
        values.append(f"{value.name} = {value.value}{test}")
    steps = []
    for one in plan.gradients:
        names = ", ".join(argument.name for argument in one.arguments)
        mask = " (mask)" if one.has_mask else ""
        steps.append(f"{names} if {' or '.join(one.wanted)}{mask}: {one.value}")
    assert "; ".join(values) == shared
    assert "; ".join(steps) == gradients


def test_what_a_formula_uses_that_always_runs_is_always_computed() -> None:
    info = info_of(SOME, OF_SOME)
    plan = plan_backward(info, "w{}".format, written, lambda one: one.names != ("x",))
    assert [value.wanted for value in plan.shared] == [()]


def test_names_in_formulas_of_tangents() -> None:
    info = info_of(TWO, "    x: grad * y\n    y: grad * x\n")
    used = {"x_p", "y_t", "s", "original_x_t", "result", "grad", "other"}
    found = reads_of(info, info.function.func, used)
    assert [tuple(one) for one in found] == [
        ("x_p", "x", False),
        ("original_x_t", "x", True),
        ("y_t", "y", True),
        ("s", "s", False),
        ("result", "result", False),
        ("grad", "x", True),
    ]
