"""Generate a package, and run programs that import it, each in a separate process.

What is registered with torch stays for the whole process, so no test does that in its own.
"""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT
from tests.forks import COMPILING, PLAIN, run_forked
from torchgen_lite import generate, load


def write_package(folder: Path) -> None:
    """Generate what the configuration in a folder asks for."""
    for path, text in generate(load(root=folder)).items():
        target = folder / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def write_project(folder: Path, entries: str, kernels: str) -> None:
    """A package with kernels in Python, generated."""
    files = {"ops.yaml": entries, "kern.py": kernels, "torchgen_lite.toml": _CONFIG}
    for name, text in files.items():
        (folder / name).write_text(text)
    write_package(folder)


_CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""


def run_python(
    folder: Path, *arguments: str, imported: tuple[str, ...] | None = None
) -> subprocess.CompletedProcess[str]:
    """Python in a folder, which sees the folder and the generated package.

    It is forked from one that has imported some modules: what a program with these arguments imports anyway, if they are
    not given.
    """
    paths = [str(folder), str(folder / "generated" / "torch-python"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return run_forked(arguments, folder, environment, imported or _needed(arguments))


_COMPILES = ("pytest", "torch.compile", "torch.export")


def _needed(arguments: Sequence[str]) -> tuple[str, ...]:
    """What a program imports, whatever it is about."""
    text = "\n".join(arguments)
    return COMPILING if any(word in text for word in _COMPILES) else PLAIN


def run_program(
    folder: Path, program: str, *arguments: str, imported: tuple[str, ...] | None = None
) -> str:
    """What a program prints; its traceback is the test's failure, and so is a warning that is not PyTorch's of itself."""
    # From 2.15 on, PyTorch warns of its loops under `torch.vmap` by Python's means.
    itself = (
        "`torch.jit.script",
        "There is a performance drop because we have not yet implemented",
    )
    warnings = ["-W", "error"]
    for one in itself:
        warnings += ["-W", f"ignore:{one}"]
    command = (*warnings, "-c", textwrap.dedent(program), *arguments)
    done = run_python(folder, *command, imported=imported)
    assert done.returncode == 0, done.stderr
    return done.stdout
