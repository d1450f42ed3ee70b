"""What tests of the stable target share: its files from a YAML, a compiler, a shared library."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.cpp.compiling import QUICK, Compiled, check_syntax, together, write_files
from tests.forks import run_forked
from torchgen_lite import load
from torchgen_lite.pipeline import generate

TARGET = "cpp-torch-stable"
TINY = Path(__file__).with_name("tiny_stable")


def generate_stable(folder: Path, yaml: str, options: str = "") -> dict[str, str]:
    """The files of the target, written to `folder`, by their paths."""
    table = f'[target.{TARGET}]\nfolder = "stable"\n{options}\n'
    write_files(folder, {"ops.yaml": yaml, "torchgen_lite.toml": f'schema = "ops.yaml"\n{table}'})
    files = generate(load(root=folder), targets=[TARGET])
    write_files(folder, files)
    return files


@cache
def flags(standard: int = 17) -> tuple[str, ...]:
    """What the compiler needs for PyTorch's stable headers; they ask for C++17."""
    import torch

    include = Path(torch.__file__).parent / "include"
    python = sysconfig.get_paths()["include"]
    return (f"-std=c++{standard}", f"-isystem{include}", f"-isystem{python}", "-Istable/include")


def check(folder: Path, kernels: str, *, standard: int = 17) -> Compiled:
    """Compile kernels against the generated headers, without making anything of them."""
    (folder / "kernels.cpp").write_text(kernels)
    return check_syntax(folder, "kernels.cpp", flags=flags(standard))


def errors(compiled: Compiled) -> list[str]:
    """The lines that say `error`, without quotes of any kind around words."""
    return [line for line in compiled.messages.splitlines() if re.search(r"\berror\b", line)]


def build_library(
    folder: Path, sources: Sequence[str], name: str = "_C", more: Sequence[str] = ()
) -> Path:
    """Compile and link a library that Python can import, with more flags."""
    import torch

    library = Path(torch.__file__).parent / "lib"
    output = folder / f"{name}.so"
    source = together(folder, sources)
    command = [
        QUICK,
        "-O0",
        "-fPIC",
        "-shared",
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags(),
        *more,
        source,
    ]
    command += ["-o", output.name, f"-L{library}", f"-Wl,-rpath,{library}"]
    command += ["-ltorch", "-ltorch_cpu", "-lc10"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def run_python(folder: Path, program: str) -> str:
    """What a Python program prints that is run where the library is."""
    done = run_forked(["-c", program], folder, os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout
