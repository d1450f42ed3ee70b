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
        # No gradient comes from inside the kernel.
        ("x: not_differentiable, y: not_differentiable", None, Origin.passes),
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


@pytest.mark.parametrize(
    ("schema", "key", "registered"),
    [
        # Another key's kernel is made of PyTorch's functions, and this one's is not.
        ("f(Tensor x) -> Tensor", "CPU: f, CompositeImplicitAutograd", {"Autograd"}),
        ("f(Tensor x) -> Tensor", "CompositeImplicitAutograd", set()),
        ("f.out(float v, *, Tensor(a!) out) -> Tensor(a!)", "CPU", {"Autograd"}),
        # No argument carries a key of autograd.
        ("f(Tensor(a!)[]? xs) -> ()", "CompositeExplicitAutograd", {"ADInplaceOrView"}),
        ("f(Tensor[]? xs) -> Tensor", "CompositeExplicitAutograd", {"ADInplaceOrView"}),
        ("f(int n) -> Tensor", "CompositeExplicitAutograd", set()),
    ],
)
def test_what_refuses_in_cpp(schema: str, key: str, registered: set[str], tmp_path: Path) -> None:
    text = f"- func: my::{schema}\n  dispatch: {{{key}: g}}\n"
    (tmp_path / "ops.yaml").write_text(text)
    program = load(tmp_path / "ops.yaml")
    every = TARGETS["cpp-torch"].select(program).registrations(program)
    assert {r.key for r in every if r.origin is Origin.underived} == registered


@pytest.mark.parametrize("target", ["torch-python", "cpp-torch"])
@pytest.mark.parametrize(
    ("arguments", "is_alone"),
    [("Tensor(a!)[]? xs", True), ("Tensor(a!)[]? xs, Tensor y", False), ("Tensor[]? xs", False)],
)
def test_what_raises_versions_in_inference_mode(
    target: str, arguments: str, is_alone: bool, tmp_path: Path
) -> None:
    """A call whose arguments carry no keys has nothing but BackendSelect there."""
    (tmp_path / "ops.yaml").write_text(
        f"- func: my::f({arguments}) -> ()\n  dispatch: {{CompositeExplicitAutograd: g}}\n"
    )
    program = load(tmp_path / "ops.yaml")
    every = TARGETS[target].select(program).registrations(program)
    selecting = [r.origin for r in every if r.key == "BackendSelect"]
    assert selecting == [Origin.raises_versions] * is_alone
