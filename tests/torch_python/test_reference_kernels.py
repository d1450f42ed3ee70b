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
- func: my::normed(Tensor x, Tensor weight, float eps=0.5) -> (Tensor out, Tensor rstd)
  dispatch: {CPU: normed, Meta: reference}
  derivatives: auto
  decompose: [inductor]
  samples:
    calls:
      - (randn(2, 3), randn(3))
    reference:
      let:
        scale: (x.square().mean(-1, keepdim=True) + eps).rsqrt()
      rstd: scale.squeeze(-1)
      out: x * scale * weight
- func: my::flat(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: reference}
  samples:
    calls: [(randn(5))]
    reference: x.view(-1)
"""
# Neither function is the kernel of an entry that says `reference`.
KERNELS = """\
CALLS = []


def silu(x, scale):
    return x * x.sigmoid() * scale


def normed(x, weight, eps):
    CALLS.append("normed")
    scale = (x.square().mean(-1, keepdim=True) + eps).rsqrt()
    return x * scale * weight, scale.squeeze(-1)


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

# What `let` names is computed once, wherever the reference stands.
NAMED = """
import my_ops, torch
from my_kernels import CALLS
from torch.utils._python_dispatch import TorchDispatchMode

class Names(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        names.append(op.overloadpacket.__name__)
        return op(*args, **(kwargs or {}))

meta = my_ops.normed(torch.randn(2, 3, device="meta"), torch.randn(3, device="meta"))
print([list(one.shape) for one in meta])
x, w = (torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in ((2, 3), (3,)))
torch.autograd.gradcheck(lambda x, w: my_ops.normed(x, w, 0.25), (x, w))
names = []
out, rstd = my_ops.normed(x, w)
wanted = torch.autograd.grad(out.sum(), (x, w), retain_graph=True)
with Names():
    torch.autograd.grad(out.sum(), (x, w))
print(names.count("rsqrt"), names.count("mean"))

CALLS.clear()
compiled = torch.compile(lambda x, w: my_ops.normed(x, w), fullgraph=True)
torch.testing.assert_close(compiled(x.detach(), w.detach()), (out.detach(), rstd.detach()))
found = torch.autograd.grad(compiled(x, w)[0].sum(), (x, w))
torch.testing.assert_close(found, wanted)
print(CALLS)
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


def test_results_by_name_share_values(project: Path) -> None:
    """The Meta kernel, gradients, and what inductor compiles in the place of the kernel."""
    assert run_program(project, NAMED) == "[[2, 3], [2]]\n1 1\n[]\n"


def test_generated_tests_pass(project: Path) -> None:
    """Those of the fake and of compilers among them."""
    tests = "generated/torch-python/tests"
    done = run_python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout
