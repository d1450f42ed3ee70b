"""examples/torch_ops installed with pip: one module for libtorch, one for its stable ABI."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.cpp.compiling import QUICK, needs_compiler, quick_compiler
from tests.cpp.torch_ops import copy_example, run, run_python
from tests.forks import COMPILING

pytestmark = [
    pytest.mark.torch,
    needs_compiler,
    pytest.mark.skipif(
        importlib.util.find_spec("setuptools") is None, reason="setuptools is not installed"
    ),
]


@pytest.mark.parametrize("abi", ["classic", "stable"])
def test_the_installed_module_has_the_operators(tmp_path: Path, abi: str) -> None:
    """With a kernel for CUDA, too, that is left out; tests/cpp/test_cuda_builds.py compiles one."""
    folder = copy_example(tmp_path)
    schema, of_cpu = folder / "ops.yaml", "    CPU: smooth_relu_cpu\n"
    of_both = f"{of_cpu}    CUDA: smooth_relu_cuda\n"
    schema.write_text(schema.read_text().replace(of_cpu, of_both))
    run(folder, sys.executable, "-m", "torchgen_lite", "generate")
    for kernels in ("csrc", "csrc_stable"):
        (folder / kernels / "smooth_relu.cu").write_text("#error not without CUDA\n")
    installed = tmp_path / "installed"
    options = ("--quiet", "--no-build-isolation", "--no-deps", "--target", installed)
    compiler = quick_compiler("g++" if abi == "stable" else QUICK)
    built = {"TORCH_OPS_ABI": abi, "TORCH_OPS_CUDA": "0", "CXX": compiler}
    run(folder, sys.executable, "-m", "pip", "install", *options, ".", **built)
    [module] = (installed / "torch_ops").glob("_C*.so")
    assert module.name == "_C.abi3.so"
    # The example's own tests run on what CMake builds of the same sources.
    variables = {"PYTHONPATH": str(installed), "TORCH_OPS_ABI": abi}
    demo = run_python(folder.parent, folder / "demo.py", imported=COMPILING, **variables)
    assert "squares      tensor([ 0.,  1.,  4.,  9., 16.])" in demo
    assert demo.endswith("compiled     True\n")
    # Either package may be the first one that is imported.
    assert run_python(folder.parent, "-c", "import torch_ops_python", **variables) == ""
