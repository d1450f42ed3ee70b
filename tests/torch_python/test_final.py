"""Kernels that no other library replaces: Autograd calls them as they are, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["final_kernels"]
final = {final}
"""
ENTRIES = """\
- func: final::scaled(Tensor x, float by=2.0, *, float add=0.0) -> Tensor
  dispatch: {CPU: scaled}
  fake: {like: x}
  derivatives: {x: grad * by}
- func: final::both(Tensor x) -> (Tensor sum, Tensor sign)
  dispatch: {CPU: both}
  fake: [{like: x}, {like: x}]
  derivatives:
    x: grads[0] * x.sign()
  output_differentiability: [True, False]
- func: final::add_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  tags: inplace
  dispatch: {CPU: add_}
  derivatives: {self: grad, x: grad}
- func: final::plain(Tensor x) -> Tensor
  dispatch: {CPU: plain}
  fake: {like: x}
"""
# A kernel may return a list where the schema has several results; the dispatcher makes a tuple of it.
KERNELS = """\
def scaled(x, by, *, add):
    return x * by + add


def both(x):
    return [x.abs(), x.sign()]


def add_(self, x):
    return self.add_(x)


def plain(x):
    return x.clone()
"""
PROGRAM = """
import importlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import final_kernels
import final_ops

ops = torch.ops.final


class Calls(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print("mode", func)
        return func(*args, **(kwargs or {}))


def every(x):
    out = ops.scaled(x), ops.scaled(x, 3.0, add=1.0), *ops.both(x), ops.plain(x)
    return (*out, ops.add_(x.clone(), x))


def seen(f, *args):
    return [(v.detach().tolist(), v.requires_grad) for v in f(*args)]


x = torch.tensor([1.0, -2.0])
print(seen(every, x))
w = x.clone().requires_grad_()
print(seen(every, w)[:4], seen(every, w)[-1])
for f in (ops.scaled, lambda w: ops.both(w)[0], lambda w: ops.add_(w * 1, w)):
    (found,) = torch.autograd.grad(f(w).sum(), w)
    print(found.tolist(), torch.func.grad(lambda x: f(x).sum())(x).tolist())
print(torch.func.jvp(ops.scaled, (x,), (x,))[1].tolist(), torch.vmap(ops.scaled)(x).tolist())
print(seen(torch.compile(every, backend="aot_eager", fullgraph=True), x))
print(seen(torch.compile(lambda w: (ops.scaled(w),), backend="aot_eager", fullgraph=True), w))
with Calls():
    ops.scaled(x)
with torch.inference_mode():
    print(seen(every, x))
try:
    ops.plain(w).sum().backward()
except RuntimeError as error:
    print(error)
# After a reload, the new kernel is called.
final_kernels.scaled = lambda x, by, *, add: x * 100
importlib.reload(importlib.import_module("final_ops._library"))
importlib.reload(importlib.import_module("final_ops._operators"))
print(ops.scaled(x).tolist(), ops.scaled(w).tolist())
"""
# What the option is a promise about.
REPLACED = """
import torch

import final_ops

other = torch.library.Library("final", "IMPL")
other.impl("scaled", lambda x, by=2.0, *, add=0.0: x * 0, "CPU")
x = torch.ones(1)
print([torch.ops.final.scaled(v).item() for v in (x, x.clone().requires_grad_())])
"""


def project(folder: Path, final: str) -> Path:
    (folder / "torchgen_lite.toml").write_text(CONFIG.format(final=final))
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "final_kernels.py").write_text(KERNELS)
    write_package(folder)
    return folder


def test_calls_are_as_they_were(tmp_path: Path) -> None:
    found = []
    for final in ("false", "true"):
        (tmp_path / final).mkdir()
        found.append(run_program(project(tmp_path / final, final), PROGRAM))
    assert found[0] == found[1]
    assert found[0].endswith("[100.0, -200.0] [100.0, -200.0]\n")


@pytest.mark.parametrize("final, expected", [("false", "[0.0, 0.0]\n"), ("true", "[2.0, 2.0]\n")])
def test_a_kernel_of_another_library(tmp_path: Path, final: str, expected: str) -> None:
    done = run_python(project(tmp_path, final), "-c", REPLACED)
    assert done.stdout == expected, done.stderr
