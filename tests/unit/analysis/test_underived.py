"""An operator whose entry does not say what is between its tensors refuses derivatives, in both targets alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.targets import TARGETS

ENTRY = """\
- func: my::f(Tensor x, Tensor y) -> Tensor
  dispatch: {CPU: f}
"""


@pytest.mark.parametrize(
    ("derivatives", "python", "cpp"),
    [
        ("", Origin.underived, Origin.underived),
        ("x: not_differentiable", Origin.underived, Origin.underived),
        ("x: not_differentiable, y: not_differentiable", None, Origin.fallthrough),
        ("x: grad", Origin.formulas, Origin.autograd),
    ],
)
def test_it_is_registered_at_autograd(
    derivatives: str, python: Origin | None, cpp: Origin, tmp_path: Path
) -> None:
    text = ENTRY + (f"  derivatives: {{{derivatives}}}\n" if derivatives else "")
    (tmp_path / "ops.yaml").write_text(text)
    program = load(tmp_path / "ops.yaml")
    found = [
        {r.key: r.origin for r in TARGETS[name].select(program).registrations(program)}
        for name in ("torch-python", "cpp-torch")
    ]
    assert [keys.get("Autograd") for keys in found] == [python, cpp]
