"""nvcc compiles the proof and the registrations beside a real kernel, and shows a wrong one. It needs no GPU.

Of CUDA's own headers, PyTorch's `ATen/core` and its stable ABI include none. `c10/cuda` does, and needs a file that only
builds with CUDA have (`c10/cuda/impl/cuda_cmake_macros.h`): these kernels are launched without it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import Compiled, needs_compiler, torch_flags, write_files
from tests.cpp.cuda_kernel import NVCC, classic, needs_nvcc, stable
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_compiler, needs_nvcc]
YAML = "- func: tiny::twice(Tensor x, float by=2.0) -> Tensor\n  dispatch: {CUDA: twice_cuda}\n"
KERNELS = {"cpp-torch": classic, "cpp-torch-stable": stable}
SAID = (
    "verify/twice.h(4): error: static assertion failed with "
    "\"tiny::twice: kernel 'twice_cuda' must take 'double' for argument 'by' (schema: float)\""
)


def project(folder: Path, target: str, type_: str = "double") -> Path:
    """A library whose kernel takes `by` as that type."""
    config = f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n'
    write_files(folder, {"ops.yaml": YAML, "torchgen_lite.toml": config})
    write_files(folder, generate(load(root=folder)))
    text = KERNELS[target]("tiny").replace("Tensor& x)", f"Tensor& x, {type_} by)")
    (folder / "twice.cu").write_text(text)
    return folder / target


def compile_with_nvcc(folder: Path, source: str, generated: Path) -> Compiled:
    flags = [flag.replace("-isystem", "-isystem=") for flag in torch_flags()]
    command = [
        NVCC,
        *flags,
        f"-I{generated / 'include'}",
        "-c",
        source,
        "-o",
        f"{Path(source).stem}.o",
    ]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return Compiled(done.returncode == 0, done.stdout + done.stderr)


@pytest.mark.parametrize("target", KERNELS)
def test_a_right_kernel(tmp_path: Path, target: str) -> None:
    generated = project(tmp_path, target)
    for source in ("twice.cu", f"{target}/src/register_cuda.cpp"):
        assert compile_with_nvcc(tmp_path, source, generated) == (True, "")
    # The kernel that runs on the device is in it.
    assert b"twice_each" in (tmp_path / "twice.o").read_bytes()


@pytest.mark.parametrize("target", KERNELS)
def test_a_wrong_kernel_is_shown_at_the_line_of_its_schema(tmp_path: Path, target: str) -> None:
    generated = project(tmp_path, target, "int64_t")
    ok, messages = compile_with_nvcc(tmp_path, "twice.cu", generated)
    assert not ok
    assert re.findall(r"verify/.*error.*", messages) == [SAID]
    lines = (generated / "include" / "tiny" / "verify" / "twice.h").read_text().splitlines()
    assert lines[3] == "// tiny::twice(Tensor x, float by) -> Tensor"
