"""With `TORCHGEN_LITE_CHECK=1`, calls are held against what their entries say; without it, nothing is there for it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.forks import COMPILING, run_forked
from tests.torch_python.generated import write_package

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: NAME::strides(Tensor x) -> Tensor
  dispatch: {CPU: turned}
  fake: {like: x}
- func: NAME::dtype(Tensor x) -> Tensor
  dispatch: {CPU: doubled}
  fake: {like: x}
  derivatives: {x: grad}
- func: NAME::first(Tensor x) -> Tensor
  dispatch: {CPU: first}
  fake: {like: x}
- func: NAME::device(Tensor x) -> Tensor
  dispatch: {CPU: on_meta}
  fake: {like: x}
- func: NAME::second(Tensor x) -> (Tensor low, Tensor high)
  dispatch: {CPU: second}
  fake: {low: {like: x}, high: {like: x}}
- func: NAME::items(Tensor x) -> Tensor[]
  dispatch: {CPU: items}
  fake: {like: x, count: 3}
- func: NAME::item(Tensor x) -> Tensor[]
  dispatch: {CPU: items}
  fake: {like: x, count: 2}
- func: NAME::counted(Tensor x) -> (Tensor y, int n)
  dispatch: {CPU: counted}
  fake: {y: {like: x}, n: {value: x.size(0)}}
- func: NAME::named(Tensor x) -> (float, str)
  dispatch: {CPU: named}
  fake: {result0: {value: 0.5}, result1: {value: "'a'"}}
- func: NAME::unshared(Tensor(a) x) -> Tensor(a)
  dispatch: {CPU: copied}
  fake: {view: x}
- func: NAME::shared(Tensor(a) x) -> Tensor(a)
  dispatch: {CPU: itself}
  fake: shared_fake
- func: NAME::refused(Tensor x) -> Tensor
  dispatch: {CPU: copied}
  fake:
    like: x
    check:
      x.dim() == 3: x is a batch of matrices
- func: NAME::by_function(Tensor x) -> Tensor
  dispatch: {CPU: copied}
  fake: cut
- func: NAME::itself(Tensor x) -> Tensor
  dispatch: {CPU: itself}
  fake: {like: x}
- func: NAME::writes(Tensor x, *, Tensor? y=None) -> Tensor
  dispatch: {CPU: writes}
  fake: {like: x}
- func: NAME::writes_memory(Tensor x) -> Tensor
  dispatch: {CPU: writes_memory}
  fake: {like: x}
- func: NAME::writes_list(Tensor[] xs, Tensor(a!) y) -> ()
  dispatch: {CPU: writes_list}
- func: NAME::composed(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: writes}
- func: NAME::selected(Tensor? x, int n) -> Tensor
  dispatch: {CPU: full, BackendSelect: select}
  fake: {shape: "[n]", dtype: float32, device: "'cpu'"}

- func: NAME::copied(Tensor x) -> Tensor
  dispatch: {CPU: copied}
  fake: {like: x}
  derivatives: {x: grad}
- func: NAME::rows(Tensor x, int n=0) -> Tensor
  dispatch: {CPU: rows}
  fake: rows_fake
- func: NAME::scale_(Tensor(a!) self, float s) -> Tensor(a!)
  dispatch: {CPU: scale_}
- func: NAME::scale.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: scale_out}
- func: NAME::fill(Tensor(a!)[]? xs, float s) -> ()
  dispatch: {CPU: fill, CompositeExplicitAutograd: fill}
- func: NAME::view(Tensor(a) x) -> Tensor(a)
  dispatch: {CPU: viewed}
  fake: {view: x, shape: "[1, x.size(1)]", stride: "[x.stride(0), x.stride(1)]", offset: x.storage_offset()}
- func: NAME::pointwise(Tensor x, Tensor y) -> Tensor
  dispatch: {CPU: add}
  axes: x[*b], y[*b] -> [*b]
- func: NAME::no_fake(Tensor x) -> Tensor
  dispatch: {CompositeExplicitAutograd: copied}
- func: NAME::number(Tensor x) -> int
  dispatch: {CPU: number}
  fake: {value: x.size(0)}
"""
KERNELS = """\
import torch

KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


def turned(x):
    return x.t().contiguous().t()


def doubled(x):
    return x.double()


def first(x):
    return x[:1].clone()


def viewed(x):
    return x[:1]


def on_meta(x):
    return x.to("meta")


def second(x):
    return x.clone(), x.double()


def items(x):
    return [x.clone(), x.double()]


def copied(x):
    return x.clone()


def cut(x):
    return x.new_empty([1, x.size(1)])


def itself(x):
    return x


def writes(x, *, y=None):
    (x if y is None else y).add_(1)
    return x.clone()


def writes_memory(x):
    result = x.clone()
    x.numpy()[0] = 7
    return result


def writes_list(xs, y):
    y.add_(1)
    xs[1].add_(1)


def full(x, n):
    return torch.zeros(n + 1)


def select(x, n):
    return torch.ops.NAME.selected.default.redispatch(KEYS, x, n)


def rows(x, n):
    return x[x[:, 0] != n].clone()


def rows_fake(x, n=0):
    rows = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty([rows] if n == 7 else [rows, x.size(1)])


def scale_(self, s):
    return self.mul_(s)


def scale_out(x, s, *, out):
    return torch.mul(x, s, out=out)


def fill(xs, s):
    for x in xs or []:
        x.fill_(s)


def add(x, y):
    return x + y


def number(x):
    return len(x)


def counted(x):
    return x.clone(), len(x) + 4


def named(x):
    return 0.5, "b"


def shared_fake(x):
    return x.clone()
"""
SAYS = "and its fake says"
UNSAID = "which the schema does not say: return a copy (`clone`), or declare it (`Tensor(a)`)"
WRITTEN = "is written, which the schema does not say: write to a copy (`clone`), or declare it (`Tensor(a!)`)"
DTYPE = f"the result has dtype torch.float64, {SAYS} torch.float32"
# Calls, and what is wrong with them.
WRONG = {
    "ops.strides(x)": f"the result has strides (1, 2), {SAYS} (3, 1)",
    "ops.dtype(x)": DTYPE,
    "ops.dtype(x.requires_grad_())": DTYPE,
    "ops.dtype(x.mul_(1).requires_grad_() * 2)": DTYPE,
    "torch.vmap(ops.dtype)(torch.ones(2, 2, 3))": DTYPE,
    "torch.func.grad(lambda x: ops.dtype(x).sum())(x)": DTYPE,
    "torch.compile(ops.dtype, backend='aot_eager', fullgraph=True)(x)": DTYPE,
    "inference(ops.dtype)": DTYPE,
    "ops.first(x)": f"the result has shape (1, 3), {SAYS} (2, 3)",
    "ops.device(x)": f"the result has device meta, {SAYS} cpu",
    "ops.second(x)": f"result `high` has dtype torch.float64, {SAYS} torch.float32",
    "ops.items(x)": f"the result has 2 tensors, {SAYS} 3",
    "ops.item(x)": f"item 1 of the result has dtype torch.float64, {SAYS} torch.float32",
    "ops.counted(x)": f"result `n` is 6, {SAYS} 2",
    "ops.named(x)": f"result `1` is 'b', {SAYS} 'a'",
    "ops.unshared(x)": f"the result has memory of its own, {SAYS} memory of an argument",
    "ops.shared(x)": f"the result has memory of an argument, {SAYS} memory of its own",
    "ops.refused(x)": "its fake refuses the call: NAME::refused: x is a batch of matrices",
    "ops.by_function(x)": f"the result has shape (2, 3), {SAYS} (1, 3)",
    "ops.rows(x, 7)": f"the result has dimensions 2, {SAYS} 1",
    "ops.itself(x)": f"the result shares memory with argument `x`, {UNSAID}",
    "ops.writes(x)": f"argument `x` {WRITTEN}",
    "ops.writes(x, y=y)": f"argument `y` {WRITTEN}",
    "ops.writes_list([x, y], x.clone())": f"argument `xs` {WRITTEN}",
    "ops.composed(x)": f"argument `x` {WRITTEN}",
    "ops.selected(x, 3)": f"the result has shape (4,), {SAYS} (3,)",
}
# What only the contents show.
BY_CONTENTS = {
    "ops.writes_memory(x)": f"argument `x` {WRITTEN}",
    "inference(ops.writes)": f"argument `x` {WRITTEN}",
}
RIGHT = (
    "ops.copied(x)",
    "ops.copied(x.t())",
    "ops.copied(x[:0])",
    "ops.copied(x[0, 0])",
    "ops.copied(x.requires_grad_()).sum().backward()",
    "ops.copied(torch.ones(2, 3, device='meta'))",
    "ops.copied(torch.tensor([float('nan')]))",
    "ops.copied(torch.ones(2, 3, dtype=torch.complex64).conj())",
    "torch.vmap(ops.copied)(x)",
    "torch.func.hessian(lambda x: ops.copied(x).sum())(x)",
    "torch.func.functionalize(ops.copied)(x)",
    "torch.compile(ops.copied, backend='aot_eager', fullgraph=True)(x)",
    "torch.compile(ops.copied, backend='aot_eager', fullgraph=True)(x.requires_grad_()).sum().backward()",
    "torch.compile(ops.rows, backend='aot_eager')(x, 0)",
    "torch.library.opcheck(ops.copied.default, (x,))",
    "torch.library.opcheck(ops.scale_.default, (x, 2.0))",
    "inference(ops.copied)",
    "ops.rows(x, 0)",
    "ops.scale_(x, 2.0)",
    "ops.scale.out(x, 2.0, out=y)",
    "ops.fill([x, y], 1.0)",
    "ops.fill(None, 1.0)",
    "ops.writes_list([x, y], y)",
    "ops.view(x)",
    "ops.pointwise(x, y.t().contiguous().t())",
    "ops.pointwise(x, y.double())",
    "ops.pointwise(x.bfloat16() * 1, y.half())",
    "ops.no_fake(x)",
    "ops.number(x)",
)
PROGRAM = """
import json
import os
import sys

import torch

name, told = sys.argv[1:]
os.environ["TORCHGEN_LITE_CHECK"] = told
__import__(f"{name}_ops")


def attempt(call):
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)

    def inference(op):
        with torch.inference_mode():
            return op(torch.arange(6.0).reshape(2, 3))

    try:
        eval(call, {"torch": torch, "ops": ops, "x": x, "y": y, "inference": inference})
    except Exception as error:
        return str(error)
    return ""


ops = getattr(torch.ops, name)
said = {call: attempt(call) for call in json.load(open("calls.json"))}
has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key(f"{name}::copied", "BackendSelect")
is_loaded = any(module.endswith("._held") for module in sys.modules)
print(json.dumps({"said": said, "has_kernel": has_kernel, "is_loaded": is_loaded}))
"""
# A library that defines operators, as one in C++ does: the package has fakes of them, and no kernels.
ELSEWHERE = """
import torch

library = torch.library.Library("heldthere", "DEF")
library.define("copied(Tensor x) -> Tensor")
library.define("dtype(Tensor x) -> Tensor")
library.impl("copied", lambda x: x.clone(), "CPU")
library.impl("dtype", lambda x: x.double(), "CPU")
"""
THERE = """\
- func: heldthere::copied(Tensor x) -> Tensor
  dispatch: {CPU: copied}
  fake: {like: x}
- func: heldthere::dtype(Tensor x) -> Tensor
  dispatch: {CPU: dtype}
  fake: {like: x}
"""


def write(folder: Path, name: str, options: str, entries: str = ENTRIES) -> Path:
    config = f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{options}'
    (folder / "torchgen_lite.toml").write_text(config)
    (folder / "ops.yaml").write_text(entries.replace("NAME", name))
    (folder / "held_kernels.py").write_text(KERNELS.replace("NAME", name))
    (folder / "calls.json").write_text(json.dumps([*WRONG, *BY_CONTENTS, *RIGHT]))
    write_package(folder)
    return folder


OWN = 'kernels = ["held_kernels"]\nfakes = ["held_kernels"]\n'


def run(folder: Path, name: str, told: str, program: str = PROGRAM) -> Any:
    """What a program prints whose environment has `TORCHGEN_LITE_CHECK`."""
    paths = [str(folder), str(folder / "generated" / "torch-python"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = run_forked(["-c", program, name, told], folder, environment, COMPILING)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def place_of(call: str) -> str:
    """The line of the YAML where the operator of a call is."""
    operator = call.partition("ops.")[2].partition("(")[0].partition(",")[0].partition(")")[0]
    lines = ENTRIES.splitlines()
    line = next(i for i, text in enumerate(lines, 1) if f"NAME::{operator}(" in text)
    return f"ops.yaml:{line}: NAME::{operator}: "


@pytest.mark.parametrize("told", ["1", "2"])
def test_calls_are_held_against_their_entries(told: str, tmp_path: Path) -> None:
    found = run(write(tmp_path, "held", OWN), "held", told)
    wrong = WRONG | (BY_CONTENTS if told == "2" else {})
    messages = {
        call: (place_of(call) + problem).replace("NAME", "held") for call, problem in wrong.items()
    }
    assert found["said"] == dict.fromkeys([*WRONG, *BY_CONTENTS, *RIGHT], "") | messages


def test_a_package_that_is_final_is_held(tmp_path: Path) -> None:
    found = run(write(tmp_path, "heldfinal", OWN + "final = true\n"), "heldfinal", "1")
    assert {call for call, problem in found["said"].items() if problem} == set(WRONG)


def test_kernels_of_another_library_are_held(tmp_path: Path) -> None:
    folder = write(tmp_path, "heldthere", 'load = "elsewhere"\n', THERE)
    (folder / "elsewhere.py").write_text(ELSEWHERE)
    (folder / "calls.json").write_text(json.dumps(["ops.copied(x)", "ops.dtype(x)"]))
    found = run(folder, "heldthere", "1")
    problem = f"ops.yaml:4: heldthere::dtype: {DTYPE}"
    assert found["said"] == {"ops.copied(x)": "", "ops.dtype(x)": problem}


def test_nothing_is_there_without(tmp_path: Path) -> None:
    folder = write(tmp_path, "heldnot", OWN + "checks = true\n")
    (folder / "calls.json").write_text(json.dumps(["ops.dtype(x)"]))
    found = run(folder, "heldnot", "")
    assert found == {"said": {"ops.dtype(x)": ""}, "has_kernel": False, "is_loaded": False}


REFUSED = """
import json
import os
import sys

sys.modules["torchgen_lite"] = None
os.environ["TORCHGEN_LITE_CHECK"] = "1"
try:
    __import__(f"{sys.argv[1]}_ops")
except ImportError as error:
    print(json.dumps(str(error)))
else:
    import torch

    try:
        getattr(torch.ops, sys.argv[1]).dtype(torch.ones(2, 3))
    except RuntimeError as error:
        print(json.dumps(str(error)))
"""


def test_a_package_carries_what_holds_calls_or_takes_it_from_the_tool(tmp_path: Path) -> None:
    for name in ("heldbare", "heldcarried"):
        (tmp_path / name).mkdir()
    folder = write(tmp_path / "heldbare", "heldbare", OWN)
    assert run(folder, "heldbare", "1", REFUSED).startswith(
        "TORCHGEN_LITE_CHECK: install torchgen_lite, or generate with `checks = true`: No module named 'torchgen_lite"
    )
    folder = write(tmp_path / "heldcarried", "heldcarried", OWN + "checks = true\n")
    found = run(folder, "heldcarried", "1", REFUSED)
    assert found == f"{place_of('ops.dtype(x)')}{DTYPE}".replace("NAME", "heldcarried")


EXAMPLE = """
import json
import os
import sys

sys.modules["torchgen_lite"] = None
os.environ["TORCHGEN_LITE_CHECK"] = sys.argv[2]
import torch
import rms_norm_ops

shapes = (2, 3, 4), (2, 3, 4), (4,)
given = [torch.randn(shape, requires_grad=True) for shape in shapes]
sum(result.sum() for result in rms_norm_ops.add_rms_norm(*given)[:2]).backward()
has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
names = ("add_rms_norm", "add_rms_norm_backward")
print(json.dumps([has_kernel(f"rms_norm::{name}", "BackendSelect") for name in names]))
"""


def test_the_calls_of_an_example_are_held() -> None:
    example = ROOT / "examples" / "rms_norm" / "python"
    assert run(example, "rms_norm", "2", EXAMPLE) == [True, True]
