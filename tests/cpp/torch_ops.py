"""What the tests of examples for libtorch share: a copy to build in, CMake, and other commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import QUICK, quick_compiler
from tests.forks import COMPILING, PLAIN, run_forked

EXAMPLE = ROOT / "examples" / "torch_ops"
# Wheels put programs beside the interpreter: cmake, ninja.
PROGRAMS = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))


def has_programs(*names: str) -> bool:
    """Whether all of these can be run."""
    return all(shutil.which(name, path=PROGRAMS) for name in names)


needs_cmake = pytest.mark.skipif(
    not has_programs("cmake", "ninja"), reason="CMake or ninja is missing"
)


def copy_example(folder: Path, example: Path = EXAMPLE) -> Path:
    """An example without any build products."""
    ignored = shutil.ignore_patterns("build*", "*.so", "*.egg-info", "__pycache__")
    return Path(shutil.copytree(example, folder / example.name, ignore=ignored))


def run(folder: Path, *command: str | Path, **variables: str) -> str:
    """Run a command and give what it prints; a failure shows that."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def run_python(
    folder: Path,
    *arguments: str | Path,
    imported: tuple[str, ...] = PLAIN,
    **variables: str,
) -> str:
    """The same, where the command is Python, which is forked from one that has imported PyTorch."""
    given = [str(argument) for argument in arguments]
    done = run_forked(given, folder, _environment(variables), imported)
    said = done.stderr + done.stdout
    assert done.returncode == 0, f"{' '.join(given)}\n{said}"
    return said


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    usual = {"PATH": PROGRAMS, "PYTHONPATH": path, "MAX_JOBS": "2"}
    return {**os.environ, **usual, **variables}


# One source for each library: behind PyTorch's headers each takes seconds before any of ours is compiled. A build by
# setuptools compiles each by itself (test_torch_ops_setuptools.py).
TOGETHER = ("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0")
GENERATOR = (
    f"-Dtorchgen_lite_DIR={ROOT / 'torchgen_lite' / 'cmake'}",
    f"-DTORCHGEN_LITE_COMMAND={sys.executable};-m;torchgen_lite",
)


def configure(folder: Path, *options: str, compiler: str = QUICK) -> None:
    """Let CMake begin in `build`, with this compiler."""
    import torch

    where = ("-S", ".", "-B", "build", "-G", "Ninja")
    prefix = f"-DCMAKE_PREFIX_PATH={torch.utils.cmake_prefix_path}"
    try:
        run(folder, "cmake", *where, prefix, *options, CXX=quick_compiler(compiler))
    except AssertionError as error:
        # All of it: what `nvcc` comes with may lack some of its libraries.
        if torch.version.cuda and re.search(r"cannot find the CUDA|CUDA_\w+_LIBRARY", str(error)):
            pytest.skip("the CMake files of a build with CUDA look for all of its toolkit")
        raise


def run_example_tests(folder: Path, **variables: str) -> str:
    """The example's own tests, in a separate process, since a process can load only one library."""
    # From elsewhere, so that `import torch_ops` finds what is installed.
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull)
    tests = folder / "tests" / "test_torch_ops.py"
    command = ("-m", "pytest", *options, tests)
    return run_python(folder.parent, *command, imported=COMPILING, **variables)
