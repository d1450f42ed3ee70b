"""`torch.func.functionalize` of operators that write, of which PyTorch's fallback refuses all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed import needs_torch
from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["written_kernels"]
"""
ENTRIES = """\
- func: written::double_all(Tensor(a!)[] xs) -> ()
  dispatch: {CPU: double_all}
- func: written::push(Tensor(a!) x, Tensor y, *, Tensor(b!)? count=None) -> Tensor
  dispatch: {CPU: push}
  fake: {like: y}
- func: written::both(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both}
- func: written::plus_(Tensor(a!) x, Tensor y) -> Tensor(a!)
  dispatch: {CPU: plus_}
  axes: x[*b], y[*b] -> [*b]
- func: written::twice(Tensor x) -> Tensor
  dispatch: {CPU: twice}
- func: written::twice_(Tensor(a!) x) -> Tensor(a!)
  dispatch: {CPU: twice_}
- func: written::half(Tensor self) -> Tensor
  dispatch: {CPU: half}
  derivatives: {self: grad / 2}
- func: written::half_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: half_}
  derivatives: {self: grad / 2}
- func: written::half.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: half_out}
"""
KERNELS = """\
import torch


def double_all(xs):
    for x in xs:
        x.mul_(2)


def push(x, y, *, count):
    if count is not None:
        count.add_(1)
    x.add_(y)
    return y * 2


def both(x, y):
    return x.add_(1), y.add_(2)


def plus_(x, y):
    return x.add_(y)


def twice(x):
    return x * 2


def twice_(x):
    return x.mul_(2)


def half(self):
    return self / 2


def half_(self):
    return self.div_(2)


def half_out(self, *, out):
    return torch.div(self, 2, out=out)
"""
PROGRAM = """
import torch
from torch.func import functionalize, vmap
from torch.fx.experimental.proxy_tensor import make_fx

import written_ops

ops = torch.ops.written


def of_a_list(x):
    y, z = x[0] * 1, x[1]
    ops.double_all([y, z])
    return [x + 1, y]


def beside_a_result(x):
    count = torch.zeros(())
    return [ops.push(x[:, 1:], x[:, :1], count=count), ops.push(x[0], x[1]), count]


def several(x):
    first, second = ops.both(x[0], x[1] * 1)
    return [first.add_(1), second, x]


def of_a_view(x):
    return [ops.plus_(x.t(), x.t()), ops.twice_(x[1]), x * 1]


def one_twice(x):
    y = x * 1
    ops.both(y, y)
    return [y]


def run(f, wrapped):
    x = torch.arange(6.0).reshape(2, 3)
    return [value.tolist() for value in (*wrapped(f)(x), x)]


def gradients(x):
    y = x * 1
    ops.half_(y)
    return (y * y).sum()


x = torch.arange(6.0).reshape(2, 3)
assert torch.func.grad(functionalize(gradients))(x).tolist() == (x / 2).tolist()
assert torch.func.jvp(functionalize(gradients), (x,), (x,))[1] == (x * x / 2).sum()
made = functionalize(lambda x: ops.half.out(x, out=torch.empty(0)) * 1)(x)
assert made.tolist() == (x / 2).tolist()
for written in (lambda x: (x[0], x), lambda x: (x[0], x[0]), lambda x: (x[:, 0], x[:, 1])):
    try:
        functionalize(lambda x: ops.both(*written(x * 1)))(x)
    except RuntimeError as error:
        print(error)

functions = (of_a_list, beside_a_result, several, of_a_view, one_twice)
for f in functions:
    plain = run(f, lambda f: f)
    for remove in ("mutations", "mutations_and_views"):
        assert run(f, lambda f: functionalize(f, remove=remove)) == plain, (f, remove)

x = torch.arange(6.0).reshape(2, 3)
alone = lambda x: ops.plus_(x * 1, x)
for one in (vmap(functionalize(alone)), functionalize(vmap(alone)), vmap(alone)):
    assert one(x).tolist() == (x * 2).tolist()
outside = torch.zeros(3)
functionalize(lambda x: ops.plus_(outside, x))(x[1])
assert outside.tolist() == [3.0, 4.0, 5.0]

# Of a functional variant the trace has no writes; another call is on a copy.
for f in (lambda x: ops.twice_(x * 1), lambda x: ops.plus_(x * 1, x)):
    graph = make_fx(functionalize(f))(x).graph
    print(*[n.target for n in graph.nodes if n.op == "call_function"])

# PyTorch asks whether there is a kernel before it functionalizes by itself, for compilers.
print({n: torch._C._dispatch_has_kernel_for_dispatch_key(f"written::{n}", "Functionalize")
       for n in ("double_all", "push")})
"""
EXPECTED = """\
functionalize: written::both writes to tensors that share memory
functionalize: written::both writes to tensors that share memory
functionalize: written::both writes to tensors that share memory
aten.mul.Tensor written.twice.default
aten.mul.Tensor aten.clone.default written.plus_.default
{'double_all': False, 'push': False}
"""


@needs_torch((2, 13), "before, what returns what it writes has a kernel for Functionalize")
def test_they_do_what_they_do_without_it(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "written_kernels.py").write_text(KERNELS)
    write_package(tmp_path)
    assert run_program(tmp_path, PROGRAM) == EXPECTED
