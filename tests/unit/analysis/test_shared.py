"""Equal parts of formulas, which are computed once; what may do something else each time is left where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.differentiability.shared import with_shared
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.formulas.model import Expression, rebuild
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

ENTRIES = """\
- func: my::f(Tensor x, Tensor y, float s, bool flag) -> Tensor
  dispatch: {{CPU: f}}
  derivatives:
    x: "{x}"
    y: "{y}"
- func: my::draw(Tensor x) -> Tensor
  dispatch: {{CPU: draw}}
  tags: nondeterministic_seeded
- func: my::pure(Tensor x) -> Tensor
  dispatch: {{CPU: pure}}
- func: my::pair(Tensor x) -> (Tensor low, Tensor high)
  dispatch: {{CPU: pair}}
"""


def written(tree: Typed) -> Expression:
    return rebuild(tree.node, [written(part) for part in tree.parts]) if tree.parts else tree.node


def shared(x: str, y: str) -> str:
    """The shared values of two formulas, with the formulas that use them, and what the formulas are then."""
    source = Source("ops.yaml", ENTRIES.format(x=x, y=y))
    functions, found = load_native_functions([source])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])
    info = program.resolved.autograd["my::f"].info
    assert info is not None
    formulas = with_shared(info)
    values = [f"{one.name}{list(one.users)} = {written(one.tree)}" for one in formulas.shared]
    return "; ".join([*values, *(str(written(tree)) for tree in formulas.trees)])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("grad * y", "grad * x", "grad * y; grad * x"),
        ("grad * y * s", "grad * y + x", "shared0[0, 1] = grad * y; shared0 * s; shared0 + x"),
        # One formula alone, and a value that is used only through another.
        ("grad * x.cos() + x.cos()", "grad", "shared0[0] = x.cos(); grad * shared0 + shared0; grad"),
        (
            "(grad * x).cos().exp()",
            "-(grad * x).cos()",
            "shared0[0, 1] = (grad * x).cos(); shared0.exp(); -shared0",
        ),
        (
            "(grad * x).cos() + (grad * x)",
            "(grad * x).cos()",
            "shared0[0, 1] = grad * x; shared1[0, 1] = shared0.cos(); shared1 + shared0; shared1",
        ),
        # Numbers, names and what is kept from the call cost nothing.
        ("grad * (s * 2 + x.size(0))", "grad * (s * 2 + x.size(0))", "shared0[0, 1] = grad * (s * 2 + x.size(0)); shared0; shared0"),
        # One side of a condition may not be computed.
        ("flag ? grad * y : grad", "flag ? grad * y : y", "flag ? grad * y : grad; flag ? grad * y : y"),
        ("flag ? grad * y : y", "grad * y + grad * y", "shared0[1] = grad * y; flag ? grad * y : y; shared0 + shared0"),
        # What draws random numbers, writes, or is not known, and what it is called with.
        ("grad * rand_like(x)", "grad * rand_like(x) * y", "grad * rand_like(x); grad * rand_like(x) * y"),
        ("grad * draw(x)", "grad * draw(x) * y", "grad * draw(x); grad * draw(x) * y"),
        ("pure(grad)", "pure(grad) * y", "shared0[0, 1] = pure(grad); shared0; shared0 * y"),
        # One of several results: all of them come from one call.
        ("pair(grad)[0]", "pair(grad)[1] * y", "shared0[0, 1] = pair(grad); shared0[0]; shared0[1] * y"),
        ("(grad * y).mul_(2)", "(grad * y).mul_(2) + y", "(grad * y).mul_(2); (grad * y).mul_(2) + y"),
        ("helper(grad * y)", "helper(grad * y)", "helper(grad * y); helper(grad * y)"),
        ("where(flag, grad, y)", "where(flag, grad, y) * x", "shared0[0, 1] = where(flag, grad, y); shared0; shared0 * x"),
    ],
)  # fmt: skip
def test_equal_parts(x: str, y: str, expected: str) -> None:
    assert shared(x, y) == expected


def test_names_are_not_those_of_arguments() -> None:
    text = ENTRIES.replace("Tensor y", "Tensor shared0").replace("    y:", "    shared0:")
    source = Source("ops.yaml", text.format(x="grad.exp()", y="grad.exp() * x"))
    functions, found = load_native_functions([source])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])
    info = program.resolved.autograd["my::f"].info
    assert info is not None
    assert [one.name for one in with_shared(info).shared] == ["shared_0"]
