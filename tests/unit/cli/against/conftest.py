"""A library under git whose working tree changes the operators."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
CONFIG = """\
[target.python]
package = "ops"
kernels = ["kernels"]
"""
KERNELS = "\n".join(
    f"def {name}(self): ...\n"
    for name in ("shift", "twist", "turn", "turn2", "gone", "fresh", "more")
)
OLD = """\
- func: lib::shift(Tensor self) -> Tensor
  dispatch:
    CPU: shift
    Meta: shift
- func: lib::twist(Tensor self) -> Tensor
  dispatch:
    CPU: twist
    Meta: twist
- func: lib::turn(Tensor self) -> Tensor
  dispatch:
    CPU: turn
    Meta: turn
- func: lib::gone(Tensor self) -> Tensor
"""
NEW = """\
- func: lib::shift(Tensor self) -> Tensor
  dispatch:
    CPU: shift
- func: lib::twist(Tensor self) -> Tensor
  dispatch:
    CPU: twist
- func: lib::turn(Tensor self) -> Tensor
  dispatch:
    CPU: turn2
    Meta: turn
- func: lib::fresh(Tensor self) -> Tensor
  tags: nonsense
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    command = ["git", *identity, "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def changed(run: Run, project: Path) -> Path:
    """A project that is generated and committed as `main`; its schema file has changed since."""
    (project / "torchgen_lite.toml").write_text(CONFIG)
    (project / "kernels.py").write_text(KERNELS)
    (project / "native_functions.yaml").write_text(OLD)
    assert run("generate").code == 0
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "one")
    (project / "native_functions.yaml").write_text(NEW)
    return project
