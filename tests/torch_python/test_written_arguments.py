"""Operators that write to other arguments than their first, run and compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["write_kernels"]
"""
ENTRIES = """\
- func: written::second_(Tensor x, Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: second_}

- func: written::second(Tensor x, Tensor self) -> Tensor
  dispatch: {CPU: second}
  fake: {like: self}

- func: written::both.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both_out}

- func: written::both(Tensor x) -> (Tensor low, Tensor high)
  dispatch: {CPU: both}
  fake: {low: {like: x}, high: {like: x}}
"""
KERNELS = """\
def second_(x, self):
    return self.add_(x)


def second(x, self):
    return self + x


def both_out(x, *, low, high):
    low.copy_(x - 1)
    high.copy_(x + 1)
    return low, high


def both(x):
    return x - 1, x + 1
"""
PROGRAM = """
import torch
import written_ops

ops = torch.ops.written


def write(x, y, z):
    ops.second_(x, y)
    ops.second_(self=z, x=y)
    return ops.both.out(x, high=y.clone(), low=z.clone())


def run(call):
    values = [torch.full((2,), float(n)) for n in (1, 2, 4)]
    return [value[0].item() for value in (*call(*values), *values)]


print(run(write))
print(run(torch.compile(write, fullgraph=True, backend="aot_eager")))
"""


def test_compiled_they_write_where_they_do_eagerly(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "write_kernels.py").write_text(KERNELS)
    write_package(tmp_path)
    # x is 1, y becomes 2 + 1, z 4 + 3; and x has a result on each side.
    assert run_program(tmp_path, PROGRAM).splitlines() == ["[0.0, 2.0, 1.0, 3.0, 7.0]"] * 2


ALONE = """\
- func: alone::add_(Tensor(a!) self, Tensor x, *, float s=1) -> Tensor(a!)
  dispatch: {CPU: add_}

- func: alone::both.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both_out}

- func: alone::composed_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CompositeImplicitAutograd: composed_}
"""
ALONE_KERNELS = """\
def add_(self, x, *, s):
    return self.add_(x, alpha=s)


def both_out(x, *, low, high):
    low.copy_(x - 1)
    high.copy_(x + 1)
    return low, high


def composed_(self, x):
    return self.mul_(x)
"""
ALONE_PROGRAM = """
import torch
import alone_ops

ops = torch.ops.alone


def write(x, y, z):
    kept = y.t()
    ops.add_(y, x, s=2.0)
    ops.composed_(z, y)
    return kept, *ops.both.out(x, high=y.clone(), low=z.clone())


def run(call):
    values = [torch.full((2, 3), float(n)) for n in (1, 2, 4)]
    return [(value[0, 0].item(), value.stride()) for value in (*call(*values), *values)]


print(run(write))
print(run(torch.compile(write, fullgraph=True, backend="aot_eager")))
print(sorted(name for name in torch._C._dispatch_get_all_op_names() if "alone::" in name))
"""


def test_without_a_functional_variant(tmp_path: Path) -> None:
    """They compute on copies; a composite one needs none."""
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(ALONE)
    (tmp_path / "write_kernels.py").write_text(ALONE_KERNELS)
    write_package(tmp_path)
    eager, compiled, names = run_program(tmp_path, ALONE_PROGRAM).splitlines()
    # y becomes 2 + 2 * 1, z 4 * 4; and x has a result on each side.
    values = [(4.0, (1, 3)), (0.0, (3, 1)), (2.0, (3, 1))]
    assert eager == compiled == str([*values, *((n, (3, 1)) for n in (1.0, 4.0, 16.0))])
    own = ["alone::add_", "alone::both.out", "alone::composed_"]
    beside = ["alone::_copying_add_", "alone::_copying_both.out"]
    assert names == str(sorted([*beside, *own]))
