"""Libraries with kernels for CUDA: a build without it leaves them out, a build with it compiles them.

Without libraries of CUDA what is compiled is not linked. tests/unit/cli/test_init.py makes wheels.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml

from tests.blocks import PAGES, fences
from tests.cpp.compiling import check_syntax, needs_compiler, torch_flags, with_torch, write_files
from tests.cpp.cuda_kernel import NVCC, add_kernels, entry, needs_nvcc, stable, toolkit
from tests.cpp.torch_ops import (
    GENERATOR,
    TOGETHER,
    configure,
    copy_example,
    needs_cmake,
    run,
    run_python,
)
from tests.forks import COMPILING
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_compiler]
COMMAND = (sys.executable, "-m", "torchgen_lite")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    run(tmp_path, *COMMAND, "init", "--target", "cpp-torch-stable", "tiny")
    add_kernels(tmp_path, "cpp-torch-stable", "tiny")
    return tmp_path


@needs_cmake
def test_cmake_leaves_cuda_out(project: Path) -> None:
    """By default, unless PyTorch has it."""
    configure(project, *GENERATOR, *TOGETHER)
    run(project, "cmake", "--build", "build")
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull)
    command = ("-m", "pytest", *options, "tests")
    assert "9 passed" in run_python(project, *command, imported=COMPILING)


@needs_cmake
@needs_nvcc
def test_cmake_compiles_cuda(project: Path) -> None:
    configure(project, *GENERATOR, "-Dtiny_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={NVCC}")
    folder = "CMakeFiles/tiny.dir"
    sources = ("src/twice.cu", "generated/cpp-torch-stable/src/register_cuda.cpp")
    run(project, "ninja", "-C", "build", *(f"{folder}/{source}.o" for source in sources))


# The toolkit that a PyTorch without CUDA does not look for.
SETUP = """\
import runpy, sys
from torch.utils import cpp_extension
_, cpp_extension.CUDA_HOME = sys.argv
sys.argv = ["setup.py", "build_ext"]
runpy.run_path("setup.py", run_name="__main__")
"""


@needs_nvcc
def test_setuptools_compiles_cuda(tmp_path: Path) -> None:
    """tests/cpp/test_torch_ops_setuptools.py builds it without CUDA."""
    import torch

    if torch.version.cuda or torch.version.hip:
        pytest.skip("this PyTorch has libraries of its own")
    folder = copy_example(tmp_path)
    for path in (folder / "csrc_stable").glob("*.cpp"):
        path.unlink()
    (folder / "csrc_stable" / "twice.cu").write_text(stable("torch_ops"))
    (folder / "ops.yaml").write_text(entry("torch_ops"))
    run(folder, *COMMAND, "generate")
    variables = {"TORCH_OPS_ABI": "stable", "TORCH_OPS_CUDA": "1", "TORCH_CUDA_ARCH_LIST": "9.0"}
    with pytest.raises(AssertionError, match="cannot find -lc10_cuda"):
        run(folder, sys.executable, "-c", SETUP, toolkit(), **variables)
    objects = {path.name for path in (folder / "build").rglob("*.o")}
    assert objects == {"module.o", "register.o", "register_cuda.o", "twice.o"}


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_a_kernel_that_no_header_declares(tmp_path: Path, target: str) -> None:
    """It is named, with the headers."""
    config = f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\n'
    config += 'kernel-headers = ["kernels.h"]\n'
    files = {"ops.yaml": entry("tiny"), "kernels.h": "", "torchgen_lite.toml": config}
    write_files(tmp_path, files)
    write_files(tmp_path, generate(load(root=tmp_path)))
    source, includes = f"{target}/src/register_cuda.cpp", [tmp_path, tmp_path / target / "include"]
    flags = with_torch() if target == "cpp-torch" else torch_flags()
    done = check_syntax(tmp_path, source, flags=flags, includes=includes)
    first = next(line for line in done.messages.splitlines() if "error" in line)
    said = "kernel '::tiny::twice_cuda' is declared in none of `kernel-headers`: kernels.h"
    assert first.endswith(f": error: static assertion failed: {said}")
    assert f"``{said}``" in " ".join(PAGES["cpp-build"].split())


def test_the_entry_that_is_shown() -> None:
    blocks = [block for block in fences(PAGES["cpp-build"]) if block.language == "yaml"]
    assert [yaml.safe_load(block.text) for block in blocks] == [yaml.safe_load(entry("tiny"))]


def test_hipify_leaves_generated_files_as_they_are(tmp_path: Path) -> None:
    from torch.utils.hipify.hipify_python import hipify

    config = 'schema = ["ops.yaml"]\ntargets = ["cpp-torch", "cpp-torch-stable"]\n'
    files = {"ops.yaml": entry("tiny"), "torchgen_lite.toml": config, "twice.cu": stable("tiny")}
    write_files(tmp_path, files)
    generated = generate(load(root=tmp_path))
    write_files(tmp_path, generated)
    translated = hipify(
        project_directory=str(tmp_path),
        output_directory=str(tmp_path),
        includes=[f"{tmp_path}/*"],
        extra_files=[str(tmp_path / name) for name in ("twice.cu", *generated)],
        is_pytorch_extension=True,
        hipify_extra_files_only=True,
    )
    places = {Path(result.hipified_path or name) for name, result in translated.items()}
    assert places == {tmp_path / "twice.hip", *(tmp_path / name for name in generated)}
