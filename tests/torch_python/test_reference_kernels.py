"""`reference` under `dispatch`: the kernel computes what the reference of `samples` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["my_kernels"]
fakes = ["my_rules"]
"""
ENTRIES = """\
- func: my::silu(Tensor x, float scale=1.0) -> Tensor
  dispatch: {CPU: silu, Meta: reference}
  derivatives:
    x: grad * scale * sigmoid(x) * (1 + x * (1 - sigmoid(x)))
  samples:
    calls: [(randn(3)), (randn(0))]
    reference: x * torch.sigmoid(x) * scale
- func: my::split(Tensor x, *, int at=2) -> (Tensor, Tensor)
  dispatch: {CompositeExplicitAutograd: reference}
  samples:
    calls: [(randn(5))]
    reference: split
- func: my::flat(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: reference}
  samples:
    calls: [(randn(5))]
    reference: x.view(-1)
"""
# Neither function is the kernel of an entry that says `reference`.
KERNELS = """\
def silu(x, scale):
    return x * x.sigmoid() * scale


def reference(*args):
    raise NotImplementedError
"""
RULES = "def split(x, *, at=2): return x[:at], x[at:]\n"
PROGRAM = """
import my_ops, torch

one = my_ops.silu(torch.randn(2, 3, dtype=torch.float64, device="meta"))
print(one.shape, one.dtype)
x = torch.arange(4.0)
low, high = my_ops.split(x, at=1)
low += 5
print(x.tolist(), low.tolist(), high.tolist())
x.requires_grad_()
y = my_ops.flat(x)
y.sum().backward()
print(x.grad.tolist(), y.data_ptr() == x.data_ptr())

def f(x):
    low, high = my_ops.split(my_ops.silu(x, 3.0))
    return low.sum() + high.sum() * 2 + my_ops.flat(x).sum()

x = x.detach()
compiled = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
torch.testing.assert_close(compiled(x), f(x))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "my_kernels.py": KERNELS}
    for name, text in {**files, "my_rules.py": RULES}.items():
        (folder / name).write_text(text)
    write_package(folder)
    return folder


def test_what_says_reference_computes_it(project: Path) -> None:
    """On Meta, for every backend, and composed; results share no memory with arguments."""
    assert run_program(project, PROGRAM) == (
        "torch.Size([2, 3]) torch.float64\n"
        "[0.0, 1.0, 2.0, 3.0] [5.0] [1.0, 2.0, 3.0]\n"
        "[1.0, 1.0, 1.0, 1.0] False\n"
    )


def test_generated_tests_pass(project: Path) -> None:
    """Those of the fake and of compilers among them."""
    tests = "generated/torch-python/tests"
    done = run_python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout
