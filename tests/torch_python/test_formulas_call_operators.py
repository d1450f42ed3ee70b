"""A formula calls the operator of a name, where the module of its kernels is a module of `formulas`, too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package
from torchgen_lite import load
from torchgen_lite.pipeline import lint_targets

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
package = "my_ops"
kernels = ["kern"]
formulas = ["kern", "helpers"]
"""
ENTRIES = """\
- func: my::cubed(Tensor x) -> Tensor
  dispatch: {CPU: cubed}
  fake: {like: x}
  derivatives:
    x: cubed_backward(grad, x)
- func: my::cubed_backward(Tensor grad, Tensor x) -> Tensor
  dispatch: {CPU: cubed_backward}
  fake: {like: x}
- func: my::twice(Tensor x) -> Tensor
  dispatch: {CPU: twice}
  fake: {like: x}
  derivatives:
    x: cubed_backward(helper(grad), x)
"""
# NumPy computes, so that nothing but the operator can be traced or differentiated.
KERNELS = """\
import torch

def cubed(x):
    return torch.from_numpy(x.detach().numpy() ** 3)

def cubed_backward(grad, x):
    return torch.from_numpy(grad.detach().numpy() * 3 * x.detach().numpy() ** 2)

def twice(x):
    return torch.from_numpy(x.detach().numpy() * 2)
"""
HELPERS = "def helper(grad):\n    return grad\n"
PROGRAM = """
import torch
import my_ops as ops
from torch.utils._python_dispatch import TorchDispatchMode

class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.append(str(function))
        return function(*args, **(kwargs or {}))

seen, found = [], []
x = torch.tensor([2.0], requires_grad=True)
with Seen():
    (grad,) = torch.autograd.grad(ops.cubed(x), x)
found += [grad.item(), "my.cubed_backward.default" in seen]
(grad,) = torch.autograd.grad(ops.cubed(x), x, create_graph=True)
try:
    (grad**2).sum().backward()
    found.append(x.grad.item())
except RuntimeError as error:
    found.append(str(error).partition(" (")[0])
compiled = torch.compile(lambda x: ops.cubed(x) * 2, backend="aot_eager", fullgraph=True)
found.append(torch.autograd.grad(compiled(x).sum(), x)[0].item())
print(found)
"""


def written(folder: Path, helpers: str = HELPERS) -> Path:
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "kern.py").write_text(KERNELS)
    (folder / "helpers.py").write_text(helpers)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    return folder


@pytest.mark.torch
def test_they_are_dispatched_differentiated_and_traced(tmp_path: Path) -> None:
    write_package(written(tmp_path))
    assert ast.literal_eval(run_program(tmp_path, PROGRAM)) == [
        12.0,
        True,
        "my::cubed_backward has no derivatives",
        24.0,
    ]


@pytest.mark.parametrize("target", ["torch-python", "python"])
def test_a_function_of_that_name_is_reported_unless_it_is_the_kernel(
    tmp_path: Path, target: str
) -> None:
    written(tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG.replace("torch-python", target))
    assert clashes(tmp_path) == []
    # The first module has no such function then, and the second one is no kernel.
    (tmp_path / "kern.py").write_text(KERNELS.replace("def cubed_backward", "def other"))
    (tmp_path / "helpers.py").write_text(f"{HELPERS}\ndef cubed_backward(grad):\n    return grad\n")
    assert clashes(tmp_path) == ["my::cubed", "my::twice"]
    # What a module only imports is no function of its own.
    (tmp_path / "helpers.py").write_text(f"{HELPERS}\nfrom other import cubed_backward\n")
    assert clashes(tmp_path) == []


@pytest.mark.parametrize("target", ["torch-python", "python"])
def test_a_function_of_the_author_is_not_what_at_names(tmp_path: Path, target: str) -> None:
    """In C++ `at::cosh` is PyTorch's, whatever the author's headers define."""
    written(tmp_path, "def helper(grad):\n    return grad\n\ndef cosh(x):\n    return 2 * x\n")
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG.replace("torch-python", target))
    for called, refused in [("cosh", []), ("at::cosh", ["my::twice"])]:
        text = ENTRIES.replace("helper(grad)", f"{called}(grad)")
        (tmp_path / "ops.yaml").write_text(text)
        found = lint_targets(load(root=tmp_path))
        assert [d.operator for d in found if d.code == "TG540"] == refused


def clashes(folder: Path) -> list[str | None]:
    return [d.operator for d in lint_targets(load(root=folder)) if d.code == "TG421"]
