"""`triton:` lets compilers look into the functions that launch Triton kernels, as `torch.library.triton_op` does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["my_kernels", "my_launches"]
"""
ENTRIES = """\
- func: my::silu(Tensor x, float scale=1.0) -> Tensor
  dispatch: {CPU: silu}
  triton: CPU
  fake: {like: x}
  derivatives:
    x: grad * scale
- func: my::double_(Tensor(a!) x) -> ()
  dispatch: {CompositeExplicitAutograd: double_}
  triton: CompositeExplicitAutograd
- func: my::half(Tensor x, Tensor? by=None) -> Tensor
  dispatch: {CPU: half_cpu, "CUDA, XPU": half}
  triton: [CUDA, XPU]
  fake: {like: x}
"""
KERNELS = """\
CALLS = []


def half_cpu(x, by):
    CALLS.append("half_cpu")
    return x / 2
"""
# What stands here in the place of a launch is traced as it is.
LAUNCHES = """\
import torch
from torch._library.triton import is_wrap_triton_enabled

from my_kernels import CALLS


def silu(x, scale):
    CALLS.append(("silu", is_wrap_triton_enabled()))
    return torch.sin(x) * scale


def double_(x):
    CALLS.append(("double_", is_wrap_triton_enabled()))
    x.mul_(2)


def half(x, by):
    CALLS.append("half")
    return torch.cos(x)
"""
HEAD = """
import sys
import my_ops, torch
from my_kernels import CALLS
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

def show(graph, given):
    print(*[str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
    return make_boxed_func(graph.forward)

def f(x):
    y = my_ops.silu(x, 3.0) + 1
    my_ops.double_(y.detach())
    return my_ops.half(y)

compiled = torch.compile(f, backend=aot_autograd(fw_compiler=show, bw_compiler=show), fullgraph=True)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("triton")
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "my_kernels.py": KERNELS}
    for name, text in {**files, "my_launches.py": LAUNCHES}.items():
        (folder / name).write_text(text)
    write_package(folder)
    return folder


def test_a_compiler_sees_the_kernel_and_an_eager_call_runs_it(project: Path) -> None:
    """The kernel of the device is put in the place of the call, or none; what exports a program keeps it."""
    program = """
    assert "my_launches" not in sys.modules
    x = torch.randn(3)
    wanted = f(x)
    print(*CALLS)
    CALLS.clear()
    torch.testing.assert_close(compiled(x), wanted)
    print(*CALLS)

    class Model(torch.nn.Module):
        def forward(self, x):
            return f(x)

    calls = torch.export.export(Model(), (x,)).graph.nodes
    print(*[str(node.target) for node in calls if node.op == "call_function"])

    y = torch.ones(2, requires_grad=True)
    g = torch.compile(lambda x: my_ops.silu(x, 3.0), backend=aot_autograd(fw_compiler=show))
    g(y).sum().backward()
    print(y.grad)
    """
    assert run_program(project, HEAD + program.replace("\n    ", "\n")) == """\
('silu', False) ('double_', False) half_cpu
aten.sin.default aten.mul.Tensor aten.add.Tensor aten.detach.default aten.mul.Tensor my.half.default
('silu', True) ('double_', True) ('silu', True) ('double_', True) half_cpu
my.silu.default aten.add.Tensor aten.detach.default my.double_.default my.half.default
aten.sin.default aten.mul.Tensor
aten.mul.Tensor
tensor([3., 3.])
"""


def test_the_devices_of_a_call_say_which_kernel(project: Path) -> None:
    """Its function is imported at its first call, or when a cache of compiled programs asks what it launches."""
    program = """
    from torch._library import triton
    from torch._subclasses import FakeTensorMode, functional_tensor

    op = torch.ops.my.half.default

    def traced(*given):
        CALLS.clear()
        with functional_tensor.FunctionalTensorMode():
            op(*map(functional_tensor.FunctionalTensor.to_functional, given))
        return [*CALLS]

    print("my_launches" in my_ops._named.modules, "my_launches" in sys.modules)
    triton.get_inner_triton_kernels = lambda function: [function.__name__ + "_kernel"]
    for name in ("silu", "half"):
        print(*triton.get_triton_kernels_for_op(f"my::{name}"))
    with FakeTensorMode():
        on = {name: torch.empty(2, device=name) for name in ("cpu", "cuda", "xpu", "meta")}
        for name, x in on.items():
            print(name, traced(x))
        print(traced(on["cuda"], torch.tensor(2.0)), traced(on["cuda"], on["xpu"]))
    """
    assert run_program(project, HEAD + program.replace("\n    ", "\n")) == """\
True False
silu_kernel
half_kernel half_kernel
cpu []
cuda ['half']
xpu ['half']
meta []
['half'] []
"""


LAUNCHED = """\
import torch
import triton
import triton.language as tl
from torch.library import wrap_triton


@triton.jit
def _doubled(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def _launch(x, out):
    grid = (triton.cdiv(x.numel(), 64),)
    wrap_triton(_doubled)[grid](x, out, x.numel(), BLOCK=64)


def silu(x, scale):
    out = torch.empty_like(x)
    _launch(x, out)
    return out


def double_(x):
    _launch(x, x)


def half(x, by):
    return silu(x, 1.0)
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
def test_a_launch_is_captured(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no GPU to trace it; its interpreter runs it in eager mode."""
    (project / "my_launches.py").write_text(LAUNCHED)
    program = """
    import logging

    logging.disable(logging.WARNING)
    try:
        compiled(torch.randn(3))
    except RuntimeError:
        print("There is no GPU to run it.")
    """
    seen = run_program(project, HEAD + program.replace("\n    ", "\n")).splitlines()[0].split()
    assert seen.count("triton_kernel_wrapper_functional") == 2 and "my.silu.default" not in seen
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    program = "x = torch.randn(3)\ntorch.testing.assert_close(my_ops.silu(x), x * 2)\n"
    assert run_program(project, HEAD + program) == ""
    (project / "my_launches.py").write_text(LAUNCHES)
