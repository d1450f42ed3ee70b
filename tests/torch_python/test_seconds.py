"""Gradients of gradients, of kernels and formulas in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package
from tests.torch_python.seconds import ENTRIES, PROGRAM

pytestmark = pytest.mark.torch

KERNELS = """\
import torch


def two(x, y): return x * y * y, x * x * y
def first(x): return x * x.exp(), x.exp()
def grown(x): return x.exp()
def grown_(x): return x.exp_()
def squared_(x, by): return x.mul_(x.clone()).mul_(by)
def chosen(x, w, n): return x.sin() if n < 2 else x * x * (1 if w is None else w)


def noted(x, seen, more):
    seen.add_(x.detach())
    if more is not None:
        more.add_(x.detach())
    return x.exp(), x * x


def total(xs, y): return sum(x * x for x in xs) * y
def total_backward(grad, xs): return [2 * grad * x for x in xs]
def parts(x, y): return [x * x * y, x * y * y]
def row(x, i): return x[i]
def once(x): return x * x
def once_backward(g, x): return 2 * g * x
def cubed(x): return x * x * x
"""
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kern"]
formulas = ["helpers"]
"""
# Formulas whose derivatives are wrong or lacking, without a word of PyTorch's, and what the generated test says.
HIDDEN = """\
- func: my::hidden(Tensor x) -> Tensor
  dispatch: {CPU: square}
  fake: {like: x}
  derivatives: {x: 'hidden_backward(grad, x)'}
  samples: [(randn(3))]
- func: my::detached(Tensor x) -> Tensor
  dispatch: {CPU: square}
  fake: {like: x}
  derivatives: {x: grad * 2 * x.detach()}
  samples: [(randn(3))]
- func: my::constant(Tensor x) -> (Tensor y, Tensor s)
  dispatch: {CPU: with_exp}
  fake: {y: {like: x}, s: {like: x}}
  # torchgen-lite: ignore[TG434]
  derivatives: {x: grad_y * s * (1 + x), output_differentiability: [True, False]}
  samples: [(randn(3))]
- func: my::right(Tensor x) -> Tensor
  dispatch: {CPU: square}
  fake: {like: x}
  derivatives: {x: grad * 2 * x}
  samples: ['(randn(3))', '(randn(3, 40))']
- func: my::once(Tensor x) -> Tensor
  dispatch: {CPU: square}
  fake: {like: x}
  derivatives: {x: 'once_backward(grad, x)'}
  samples: [(randn(3))]
- func: my::once_backward(Tensor g, Tensor x) -> Tensor
  dispatch: {CPU: twice}
  fake: {like: x}
- func: my::single(Tensor x) -> Tensor
  dispatch: {CPU: single}
  fake: {like: x}
  derivatives: {x: grad * 2 * x}
  samples: [(randn(3))]
"""
HIDDEN_KERNELS = """\
def square(x): return x * x
def with_exp(x): return x * x.exp(), x.exp()
def twice(g, x): return 2 * g * x
def single(x): return (x * x).float().to(x.dtype)
"""
HELPERS = """\
import torch


def hidden_backward(grad, x):
    with torch.no_grad():
        return 2 * grad * x
"""


def write(folder: Path, entries: str, kernels: str) -> None:
    (folder / "ops.yaml").write_text(entries)
    (folder / "kern.py").write_text(kernels)
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    write_package(folder)


def test_gradients_of_gradients_of_each_kind_of_formula(tmp_path: Path) -> None:
    write(tmp_path, ENTRIES, KERNELS)
    run_program(tmp_path, PROGRAM.format(package="seconds_ops"))


def test_generated_tests_find_what_is_not_differentiated(tmp_path: Path) -> None:
    write(tmp_path, HIDDEN, HIDDEN_KERNELS)
    command = ("-m", "pytest", "-q", "-rfs", "-p", "no:cacheprovider", "-k", "second_derivatives")
    done = run_python(tmp_path, *command, "generated/torch-python/tests")
    lines = done.stdout.splitlines()
    failed = sorted(
        [line.partition("[")[2].partition("]")[0] for line in lines if line.startswith("FAILED")]
    )
    assert failed == ["constant_0", "detached_0", "hidden_0"], done.stdout
    assert "nothing is recorded of what the formula computes, as under `no_grad`" in lines
    assert any(line.startswith("second derivative of `x`: largest") for line in lines), done.stdout
    assert "not twice differentiable: my::once_backward has no derivatives" in done.stdout
    assert "computed in float32, or constant" in done.stdout
    assert lines[-1].startswith("3 failed, 2 passed, 2 skipped"), done.stdout
