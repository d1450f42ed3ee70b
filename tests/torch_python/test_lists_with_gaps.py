"""Gradients of `Tensor?[]`, lists in which tensors may be left out, of kernels and formulas in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.gaps import ENTRIES, PROGRAM
from tests.torch_python.generated import run_program, write_package
from torchgen_lite import load
from torchgen_lite.pipeline import generate_all

KERNELS = """\
import torch


def weight(x, ws, s):
    return 1 + s * sum((w * w for w in ws if w is not None), torch.zeros_like(x))


def weights_grad(grad, ws, s):
    return [torch.zeros_like(grad) if w is None else grad * 2 * s * w for w in ws]


def total(x, ws, s):
    return x * weight(x, ws, s)


def scale_(y, ws, more):
    return y.mul_(weight(y, ws, 1.0)).add_(sum(more))


def copies(grad, more):
    return [grad.clone() for _ in more]
"""
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kern"]
"""


@pytest.mark.torch
def test_gradients_wherever_tensors_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "kern.py").write_text(KERNELS)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    write_package(tmp_path)
    run_program(tmp_path, PROGRAM.format(package="gaps_ops"))


@pytest.mark.parametrize("type_", ["Tensor[]?", "Tensor?[]?"])
def test_no_formula_uses_a_list_that_may_be_absent(tmp_path: Path, type_: str) -> None:
    """PyTorch would keep it without a check of its version."""
    entry = f"""\
- func: gaps::of(Tensor x, {type_} ws=None) -> Tensor
  dispatch: {{CPU: of}}
  fake: {{like: x}}
  derivatives: {{x: 'grad * ws[0]', ws: not_differentiable}}
"""
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "kern.py").write_text("def of(x, ws=None): return x\n")
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    found = generate_all(load(root=tmp_path)).diagnostics
    assert [one.message for one in found if one.severity == "error"] == [
        "`gaps::of` has a list of tensors that may be absent, `ws`"
    ]
