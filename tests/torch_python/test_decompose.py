"""`decompose:` puts the reference in the place of an operator's calls; `flops:` counts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forks import PLAIN
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
  dispatch: {CPU: silu}
  fake: {like: x}
  decompose: [inductor, onnx]
  flops: 4 * x.numel()
  derivatives:
    x: grad * scale * sigmoid(x) * (1 + x * (1 - sigmoid(x)))
  samples:
    calls:
      - (randn(3, 4), 2.0)
      - (randn(3, 4).t())
    reference: x * torch.sigmoid(x) * scale
- func: my::split(Tensor x, *, int at=2) -> (Tensor, Tensor)
  dispatch: {CPU: split}
  fake:
    - shape: [at]
    - shape: [x.numel() - at]
  decompose: inductor
  derivatives:
    x: "cat({grads[0], grads[1]})"
  samples:
    calls: [(randn(5))]
    reference: split_reference
"""
KERNELS = """\
CALLS = []


def silu(x, scale):
    CALLS.append("silu")
    return x * x.sigmoid() * scale


def split(x, *, at):
    CALLS.append("split")
    return x[:at].clone(), x[at:].clone()
"""
RULES = """\
def split_reference(x, *, at=2):
    return x[:at].clone(), x[at:].clone()
"""
PROGRAM = """
import sys

{first}
import my_ops, torch
from my_kernels import CALLS
from torch.utils.flop_counter import FlopCounterMode

assert ("torch._inductor.decomposition" in sys.modules) == {is_early}

def f(x):
    low, high = my_ops.split(my_ops.silu(x, 3.0), at=1)
    return low.sum() + high.sum() * 2

x = torch.randn(4, requires_grad=True)
wanted, = torch.autograd.grad(f(x), x)
CALLS.clear()
compiled = torch.compile(f, fullgraph=True)
y = compiled(x.detach())
found, = torch.autograd.grad(torch.compile(lambda x: my_ops.silu(x, 3.0).sum(), fullgraph=True)(x), x)
assert CALLS == [], CALLS
torch.testing.assert_close(y, f(x.detach()))
torch.testing.assert_close(found * torch.tensor([1.0, 2, 2, 2]), wanted)

op = torch.ops.my.silu.default
[traced] = [torch.fx.experimental.proxy_tensor.make_fx(
    lambda x: op(x), decomposition_table=torch._decomp.get_decompositions([op])
)(torch.ones(2))]
print([node.name for node in traced.graph.nodes if node.op == "call_function"])
print(torch.ops.my.split.default in torch._decomp.decomposition_table)
with FlopCounterMode(display=False) as mode:
    my_ops.silu(torch.ones(5))
print(mode.get_total_flops())
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decompose")
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "my_kernels.py": KERNELS}
    for name, text in {**files, "my_rules.py": RULES}.items():
        (folder / name).write_text(text)
    write_package(folder)
    return folder


@pytest.mark.parametrize("first", ["", "import torch._inductor.decomposition"])
def test_a_compiled_program_has_the_reference(first: str, project: Path) -> None:
    """Whether inductor is imported before the package or later; nothing but a compiler looks there."""
    program = PROGRAM.format(first=first, is_early=bool(first))
    printed = run_program(project, program, imported=PLAIN)
    assert printed == "['sigmoid', 'mul', 'mul_1']\nFalse\n20\n"


EXPORTED = """
import tempfile
import onnxruntime, torch, my_ops

class Model(torch.nn.Module):
    def forward(self, x):
        return my_ops.silu(x, 3.0) + 1

rows = torch.export.Dim("rows")
model = Model().eval()
made = torch.onnx.export(model, (torch.randn(2, 5),), dynamo=True, dynamic_shapes={"x": {0: rows}})
with tempfile.TemporaryDirectory() as folder:
    made.save(folder + "/model.onnx")
    session = onnxruntime.InferenceSession(folder + "/model.onnx")
x = torch.randn(4, 5)
[found] = session.run(None, {session.get_inputs()[0].name: x.numpy()})
torch.testing.assert_close(torch.from_numpy(found), model(x))
nodes = [node.op_type for node in made.model_proto.graph.node]
print(nodes)
"""


def test_a_model_is_exported_to_onnx(project: Path) -> None:
    """And run there, with more rows than the example had."""
    done = run_python(project, "-c", EXPORTED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['Sigmoid', 'Mul', 'Mul', 'Add']"


@pytest.mark.parametrize(
    ("reference", "passes"),
    [
        ("x * torch.sigmoid(x) * scale", True),
        ("(x * torch.sigmoid(x) * scale).double()", False),
        ("(x * torch.sigmoid(x) * scale).contiguous()", False),
    ],
)
def test_what_takes_its_place_has_the_dtype_and_the_strides_of_the_operator(
    reference: str, passes: bool, project: Path, tmp_path: Path
) -> None:
    for path in project.glob("*.*"):
        text = path.read_text().replace("x * torch.sigmoid(x) * scale", reference)
        (tmp_path / path.name).write_text(text)
    write_package(tmp_path)
    tests = "generated/torch-python/tests"
    done = run_python(
        tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_reference", tests
    )
    assert (done.returncode == 0) == passes, done.stdout


EDITED = """\
- func: my::twice(Tensor x) -> Tensor
  dispatch: {{CPU: twice}}
  fake:
    like: x
    check:
      x.dim() == 1: needs a vector
  decompose: [inductor, onnx]
  derivatives: {{x: grad * {factor}}}
  samples:
    calls: [(randn(3))]
    reference: {reference}
"""
RUN = """
import my_ops, torch

x = torch.ones(3, requires_grad=True)
y = torch.compile(my_ops.twice)(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist())
"""


def write_edited(folder: Path, factor: int, reference: str) -> None:
    files = {
        "torchgen_lite.toml": CONFIG,
        "ops.yaml": EDITED,
        "my_rules.py": "",
        "my_kernels.py": "",
    }
    files["my_kernels.py"] = f"def twice(x): return x * {factor}\n"
    files["ops.yaml"] = EDITED.format(factor=factor, reference=reference)
    for name, text in files.items():
        (folder / name).write_text(text)
    write_package(folder)


def test_an_edit_is_seen_by_what_was_compiled_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch keeps compiled programs on disk, by the graph before rules and formulas are put in."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    for factor in (2, 5):
        write_edited(tmp_path, factor, f"x * {factor}")
        printed = run_program(tmp_path, RUN)
        assert printed == f"{[factor * 1.0] * 3} {[factor * 1.0] * 3}\n"


def test_results_share_no_memory_and_fakes_check(tmp_path: Path) -> None:
    write_edited(tmp_path, 1, "x.view(-1)")
    program = """
    import my_ops, torch

    x = torch.ones(3)
    y = torch.compile(lambda x: my_ops.twice(x), fullgraph=True)(x)
    y.add_(5)
    print(x.tolist())
    try:
        torch.compile(lambda x: my_ops.twice(x), dynamic=True, backend="eager")(torch.ones(2, 2))
    except RuntimeError as error:
        print("needs a vector" in str(error))
    """
    assert run_program(tmp_path, program) == "[1.0, 1.0, 1.0]\nTrue\n"
