"""What the tests of examples/torch_ops share: a copy to build in, and commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "torch_ops"
# Wheels put programs beside the interpreter: cmake, ninja.
PROGRAMS = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))


def has_programs(*names: str) -> bool:
    """Whether all of these can be run."""
    return all(shutil.which(name, path=PROGRAMS) for name in names)


def copy_example(folder: Path) -> Path:
    """The example without what somebody may have built in it."""
    ignored = shutil.ignore_patterns("build*", "*.so", "*.egg-info", "__pycache__")
    return Path(shutil.copytree(EXAMPLE, folder / "torch_ops", ignore=ignored))


def run(folder: Path, *command: str | Path, **variables: str) -> str:
    """Run a command and give what it prints; a failure shows that."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PATH": PROGRAMS, "PYTHONPATH": path, "MAX_JOBS": "2"}
    environment.update(variables)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def run_example_tests(folder: Path, **variables: str) -> str:
    """The example's own tests, in a process of their own: a process can load one library."""
    # From elsewhere, so that `import torch_ops` finds what is installed.
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull)
    tests = folder / "tests" / "test_torch_ops.py"
    return run(folder.parent, sys.executable, "-m", "pytest", *options, tests, **variables)
