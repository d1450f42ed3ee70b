"""Generate a package, and run programs that import it, each in a separate process.

What is registered with torch stays for the whole process, so no test does that in its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.conftest import ROOT
from torchgen_lite import generate, load


def write_package(folder: Path) -> None:
    """Generate what the configuration in a folder asks for."""
    for path, text in generate(load(root=folder)).items():
        target = folder / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder, which sees the folder and the generated package."""
    paths = [str(folder), str(folder / "generated" / "torch-python"), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def run_program(folder: Path, program: str, *arguments: str) -> str:
    """What a program prints; its traceback is the test's failure, and so is a warning that is not PyTorch's of itself."""
    warnings = ("-W", "error", "-W", "ignore:`torch.jit.script")
    done = run_python(folder, *warnings, "-c", textwrap.dedent(program), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
