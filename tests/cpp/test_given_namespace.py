"""The build gives the namespace: two builds of one library in a process, each with its own kernels, formulas and fakes.

They are laid out and loaded as hubs of kernels do it: the compiler gets `TORCH_EXTENSION_NAME`, the build writes `_ops.py`,
and the package is loaded by its path.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests import hubs
from tests.cpp import stable_library
from tests.cpp.compiling import compile_library, needs_compiler, write_files
from tests.torch_python.generated import run_program
from torchgen_lite import generate, load

ENTRIES = """\
- func: hub::power(Tensor x, int n=2) -> Tensor
  dispatch: {CPU: power}
  fake: {like: x}
- func: hub::power_backward(Tensor grad, Tensor x, int n) -> Tensor
  dispatch: {CPU: power_backward}
  fake: {like: x}
- func: hub::shift(Tensor self, float by=1.0) -> Tensor
  dispatch: {CPU: shift}
  fake: {like: self}
"""
# What the stable ABI has not: formulas, and kernels that are composed.
CLASSIC = """\
- func: hub::cube(Tensor x) -> Tensor
  dispatch: {CPU: cube}
  fake: {like: x}
  derivatives:
    x: power_backward(grad, x, 3)
- func: hub::shift_(Tensor(a!) self, float by=1.0) -> Tensor(a!)
  dispatch: {CPU: shift_}
  derivatives:
    self: grad
- func: hub::twice(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: twice}
"""
CONFIG = """\
schema = ["ops.yaml"]
output-dir = "."
targets = ["{target}", "torch-python"]
[target.{target}]
folder = "cpp"
module = "TORCH_EXTENSION_NAME"
namespace-macro = "TORCH_EXTENSION_NAME"
{options}
[target.torch-python]
package = "hub.generated"
folder = "."
namespace-module = ".._ops"
"""
# `shift` takes a tensor by value, so that a call has to be made for it.
HEADER = """\
#pragma once
#include <ATen/ATen.h>
namespace hub {
at::Tensor power(const at::Tensor& x, int64_t n);
at::Tensor power_backward(const at::Tensor& grad, const at::Tensor& x, int64_t n);
at::Tensor shift(at::Tensor self, double by);
at::Tensor cube(const at::Tensor& x);
at::Tensor& shift_(at::Tensor& self, double by);
at::Tensor twice(const at::Tensor& x);
} // namespace hub
"""
KERNELS = """\
#include "my_kernels.h"
#include <hub/functions.h>
namespace hub {
at::Tensor power(const at::Tensor& x, int64_t n) { return at::pow(x, n) * VERSION; }
at::Tensor power_backward(const at::Tensor& grad, const at::Tensor& x, int64_t n) {
  return grad * at::pow(x, n - 1) * n * VERSION;
}
at::Tensor shift(at::Tensor self, double by) { return self + by * VERSION; }
at::Tensor cube(const at::Tensor& x) { return hub::functions::power(x, 3); }
at::Tensor& shift_(at::Tensor& self, double by) { return self.add_(by * VERSION); }
at::Tensor twice(const at::Tensor& x) { return hub::functions::shift(x, 1.0) * 2; }
} // namespace hub
#include <hub/verify_kernels.h>
"""
STABLE_KERNELS = """\
#include <torch/csrc/stable/ops.h>
#include <hub/functions.h>
namespace hub {
using torch::stable::Tensor;
Tensor filled(const Tensor& like, double value) {
  Tensor result = torch::stable::empty_like(like);
  torch::stable::fill_(result, value);
  return result;
}
Tensor power(const Tensor& x, int64_t n) { return filled(x, n * VERSION); }
Tensor power_backward(const Tensor&, const Tensor& x, int64_t n) { return hub::functions::power(x, n); }
Tensor shift(const Tensor& self, double by) { return filled(self, by * VERSION); }
} // namespace hub
#include <hub/verify_kernels.h>
"""
# Importing the extension registers its operators.
OPS = hubs.OPS.replace("import torch\n", "import torch\nfrom . import _hub_{version}\n")
LOAD = f"""{hubs.LOAD}
builds = {{version: hub.generated for version, hub in hubs.items()}}
assert not hasattr(torch.ops.hub, "power")
"""
PROGRAM = """
for version, ops in builds.items():
    own = getattr(torch.ops, f"_hub_{version}")
    x = torch.tensor([3.0], requires_grad=True)
    (grad,) = torch.autograd.grad(ops.cube(x), x)
    assert ops.cube(x).item() == version * 27.0
    assert grad.item() == version * 27.0, (version, grad)
    compiled = torch.compile(lambda x: ops.cube(x) * 2, backend="aot_eager", fullgraph=True)
    (grad,) = torch.autograd.grad(compiled(x).sum(), x)
    assert grad.item() == version * 54.0, (version, grad)
    with FakeTensorMode():
        assert ops.cube(torch.empty(5)).shape == (5,)
    assert ops.twice(torch.zeros(1)).item() == version * 2.0
    written = torch.func.functionalize(lambda x: ops.shift_(x.clone(), 2.0))(torch.zeros(1))
    assert written.item() == version * 2.0
    torch.library.opcheck(own.cube.default, (torch.randn(4, requires_grad=True),))
    torch.library.opcheck(own.shift_.default, (torch.randn(4),))
print("ok")
"""
STABLE_PROGRAM = """
for version, ops in builds.items():
    own = getattr(torch.ops, f"_hub_{version}")
    x = torch.tensor([3.0])
    assert ops.power_backward(x, x, 2).item() == version * 2.0
    with FakeTensorMode():
        assert ops.shift(torch.empty(5)).shape == (5,)
    compiled = torch.compile(lambda x: ops.power(x) * 2, backend="aot_eager", fullgraph=True)
    assert compiled(x).item() == version * 4.0
    torch.library.opcheck(own.power.default, (torch.randn(4),))
print("ok")
"""


def _generated(
    folder: Path, target: str, entries: str, kernels: str, options: str = ""
) -> list[str]:
    """The sources of the library, with its files and a package for each build."""
    config = CONFIG.format(target=target, options=options)
    write_files(folder, {"ops.yaml": entries, "torchgen_lite.toml": config})
    files = generate(load(root=folder))
    write_files(folder, {**files, "kernels.cpp": kernels})
    python = {path: text for path, text in files.items() if path.startswith("hub/")}
    for version in (1, 2):
        own = {"hub/__init__.py": "from . import generated as generated\n"}
        own["hub/_ops.py"] = OPS.format(version=version)
        write_files(folder / "builds" / str(version), {**python, **own})
    return ["kernels.cpp", *[path for path in files if path.endswith(".cpp")]]


def _unique_symbols(library: Path) -> list[str]:
    """What the loader gives one address in all libraries of a process, whoever loads them."""
    done = subprocess.run(
        ["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True
    )
    # A setting of the process, and texts, which are the same in all builds.
    shared = re.compile("hub::(memory::are_results_checked|fallback::Underived::k)|build__hub_")
    unique = [line for line in done.stdout.splitlines() if " u " in line and "hub" in line]
    return [line for line in unique if not shared.search(line)]


def _flags(version: int) -> list[str]:
    return [f"-DTORCH_EXTENSION_NAME=_hub_{version}", f"-DVERSION={version}"]


@needs_compiler
@pytest.mark.torch
@pytest.mark.slow("two builds of a library")
def test_two_builds_in_one_process(tmp_path: Path) -> None:
    headers = 'kernel-headers = ["my_kernels.h"]'
    write_files(tmp_path, {"my_kernels.h": HEADER})
    sources = _generated(tmp_path, "cpp-torch", ENTRIES + CLASSIC, KERNELS, headers)
    includes = [tmp_path, tmp_path / "cpp" / "include"]
    for version in (1, 2):
        library = compile_library(tmp_path, sources, flags=_flags(version), includes=includes)
        assert _unique_symbols(library) == []
        library.rename(tmp_path / "builds" / str(version) / "hub" / f"_hub_{version}.so")
    assert run_program(tmp_path, LOAD + PROGRAM) == "ok\n"


@needs_compiler
@pytest.mark.torch
@pytest.mark.slow("two builds of a library")
def test_two_builds_for_the_stable_abi(tmp_path: Path) -> None:
    sources = _generated(tmp_path, stable_library.TARGET, ENTRIES, STABLE_KERNELS)
    for version in (1, 2):
        library = stable_library.build_library(
            tmp_path, sources, more=(*_flags(version), "-Icpp/include")
        )
        library.rename(tmp_path / "builds" / str(version) / "hub" / f"_hub_{version}.so")
    assert run_program(tmp_path, LOAD + STABLE_PROGRAM) == "ok\n"
