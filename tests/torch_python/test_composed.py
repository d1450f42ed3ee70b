"""In-place and out operators that are composed of others: functionalized as PyTorch's own are."""

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
kernels = ["composed_kernels"]
"""
# The `dispatch` of an operator that is composed is left out.
ENTRIES = """\
- func: composed::twice(Tensor x) -> Tensor
- func: composed::twice_(Tensor(a!) x) -> Tensor(a!)
- func: composed::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
- func: composed::swap(Tensor x, Tensor y) -> (Tensor, Tensor)
- func: composed::swap_(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))
"""
KERNELS = """\
def twice(x):
    return x + x


def twice_(x):
    return x.add_(x)


def twice_out(x, *, out):
    return out.copy_(x * 2)


def swap(x, y):
    return y.clone(), x.clone()


def swap_(x, y):
    z = x.clone()
    return x.copy_(y), y.copy_(z)
"""
PROGRAM = """
import torch
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx

import composed_ops

ops, traced = torch.ops.composed, []


def compiler(graph, inputs):
    traced.extend(str(n.target) for n in graph.graph.nodes if n.op == "call_function")
    return graph.forward


def write(x, y):
    x = x.clone()
    ops.twice_(x)
    ops.swap_(x, y)
    return x, ops.twice.out(y, out=torch.empty_like(y))


for run in (write, torch.compile(write, fullgraph=True, backend=aot_autograd(fw_compiler=compiler))):
    x, y = torch.tensor([1.0]), torch.tensor([5.0])
    print([value.item() for value in (*run(x, y), x, y)])
print(sorted(set(traced)))


x, y = torch.tensor([1.0]), torch.tensor([5.0])
print([value.item() for value in (*torch.func.functionalize(write)(x, y), x, y)])
print(make_fx(torch.func.functionalize(ops.twice_))(x).code.count("composed"))
for name in ("twice_", "swap_", "twice.out"):
    print(torch._C._dispatch_has_kernel_for_dispatch_key(f"composed::{name}", "Functionalize"))
"""


@needs_torch((2, 10), "composite kernels served Functionalize before 2.10")
def test_functionalized_they_are_what_they_are_made_of(tmp_path: Path) -> None:
    """As in PyTorch they have no kernel at Functionalize; `torch.func.functionalize` works without it."""
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "composed_kernels.py").write_text(KERNELS)
    write_package(tmp_path)
    *computed, traced, under_func, count, a, b, c = run_program(tmp_path, PROGRAM).splitlines()
    # x is 1 + 1, then both are swapped, then y, which is 2, is doubled.
    assert [*computed, under_func] == ["[5.0, 4.0, 1.0, 2.0]"] * 3
    assert "composed" not in traced and "aten.add.Tensor" in traced and count == "0"
    assert (a, b, c) == ("False", "False", "False")
