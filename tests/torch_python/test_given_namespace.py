"""The build gives the namespace: two builds of one package in a process, each with its own kernels, formulas and fakes.

They are loaded as hubs of kernels load them: by path, under a name that nothing imports.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hubs import LOAD, OPS
from tests.torch_python.generated import run_program, run_python
from torchgen_lite import generate, load

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
output-dir = "torch-ext"
source-roots = ["torch-ext"]
targets = ["torch-python"]
[target.torch-python]
package = "hub.generated"
folder = "."
tests = "tests"
namespace-module = ".._ops"
kernels = ["hub.kernels"]
fakes = ["hub.fakes"]
formulas = ["hub.formulas"]
"""
ENTRIES = """\
- func: hub::power(Tensor x, int n=2) -> Tensor
  dispatch: {CPU: power}
  fake: {like: x}
  derivatives:
    x: power_backward(grad, x, n) * factor()
  samples:
    - (randn(3), 3)
- func: hub::power_backward(Tensor grad, Tensor x, int n) -> Tensor
  dispatch: {CPU: power_backward}
  fake: power_fake
- func: hub::shift_(Tensor(a!) self, float by=1.0) -> Tensor(a!)
  dispatch: {CPU: shift_}
  derivatives:
    self: grad
- func: hub::shift(Tensor self, float by=1.0) -> Tensor
  dispatch: {CPU: shift}
  fake: {like: self}
  derivatives:
    self: grad
- func: hub::total(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: total}
  axes: a[n, m], b[n, m] -> [n, m]
  derivatives:
    a: grad
    b: grad
  samples:
    calls:
      - (randn(2, 3), randn(2, 3))
    reference: total_reference
"""
# What is returned tells the builds apart.
KERNELS = """\
import torch

def power(x, n):
    return torch.from_numpy(VERSION * x.detach().numpy() ** n)

def power_backward(grad, x, n):
    return torch.from_numpy(VERSION * n * grad.detach().numpy() * x.detach().numpy() ** (n - 1))

def shift_(self, by):
    return self.add_(VERSION * by)

def shift(self, by):
    return self + VERSION * by

def total(a, b):
    return (VERSION * (a + b)).contiguous()
"""
FAKES = """\
import torch
calls = []

def power_fake(grad, x, n):
    calls.append(VERSION)
    return torch.empty_like(x)

def total_reference(a, b):
    return VERSION * (a + b)
"""
FORMULAS = "def factor():\n    return 10.0 ** (VERSION - 1)\n"
PROGRAM = LOAD + """
for version, hub in hubs.items():
    ops = hub.generated
    own = getattr(torch.ops, f"_hub_{version}")
    x = torch.tensor([3.0], requires_grad=True)
    (grad,) = torch.autograd.grad(ops.power(x, 3), x)
    assert ops.power(x).item() == version * 9.0
    assert grad.item() == version * 27.0 * 10 ** (version - 1), (version, grad)
    compiled = torch.compile(lambda x: ops.power(x) * 2, backend="aot_eager", fullgraph=True)
    (grad,) = torch.autograd.grad(compiled(x).sum(), x)
    assert grad.item() == version * 12.0 * 10 ** (version - 1), (version, grad)
    with FakeTensorMode():
        assert ops.power(torch.empty(5)).shape == (5,)
        assert ops.power_backward(torch.empty(5), torch.empty(5), 2).shape == (5,)
    assert set(sys.modules[f"hash_{version}.fakes"].calls) == {version}
    torch.library.opcheck(own.power.default, (torch.randn(4, requires_grad=True), 2))
    torch.library.opcheck(own.shift_.default, (torch.randn(4),))
    written = torch.func.functionalize(lambda x: ops.shift_(x.clone(), 2.0))(torch.zeros(1))
    assert written.item() == version * 2.0
    batched = torch.vmap(ops.total)(torch.ones(2, 3, 4), torch.ones(2, 3, 4))
    assert torch.equal(batched, torch.full((2, 3, 4), version * 2.0))
    tag = torch.compiler.config.cache_key_tag
    assert f"hash_{version}.generated=" in tag, tag
sources = [set(sys.modules[f"hash_{version}.generated._named"].sources()) for version in hubs]
assert [len(texts) for texts in sources] == [2, 2] and not sources[0] & sources[1], sources
assert not hasattr(torch.ops.hub, "power")
print("ok")
"""


def _written(folder: Path) -> dict[str, str]:
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    sources = folder / "torch-ext" / "hub"
    sources.mkdir(parents=True)
    for name, text in {"kernels": KERNELS, "fakes": FAKES, "formulas": FORMULAS}.items():
        (sources / f"{name}.py").write_text(f"VERSION = 1\n{text}")
    (sources / "__init__.py").write_text("from . import generated as generated\n")
    return generate(load(root=folder))


def _write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_two_builds_in_one_process(tmp_path: Path) -> None:
    files = _written(tmp_path)
    for version in (1, 2):
        build = tmp_path / "builds" / str(version)
        _write(build, files)
        for name, text in {"kernels": KERNELS, "fakes": FAKES, "formulas": FORMULAS}.items():
            _write(build, {f"hub/{name}.py": f"VERSION = {version}\n{text}"})
        package = "from . import generated as generated\n"
        _write(build, {"hub/__init__.py": package, "hub/_ops.py": OPS.format(version=version)})
    assert run_program(tmp_path, PROGRAM) == "ok\n"


def test_without_a_build_the_namespace_is_that_of_the_file(tmp_path: Path) -> None:
    _write(tmp_path / "torch-ext", _written(tmp_path))
    done = run_python(
        tmp_path / "torch-ext", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"
    )
    assert done.returncode == 0, done.stdout
