"""Typical mistakes, what is said about each, and the result of `lint --fix --unsafe-fixes` for those that it fixes.

<case>.yaml     the operators of a project that is right otherwise; of one for PyTorch if its name begins with `torch_`
<case>.toml     its configuration
<case>.args     a command line
<case>.txt      the exit code, and what is said; `UPDATE_EXPECT=1 pytest tests/mistakes` writes it
<case>.fixed    the first file that `lint --fix --unsafe-fixes` changes; without one it changes none
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.expected import expect

HERE = Path(__file__).parent
CASES = sorted(p.name for p in HERE.iterdir() if p.suffix in (".yaml", ".toml", ".args"))
CONFIG = '[target.python]\npackage = "ops"\n'
CONFIG_FOR_TORCH = """\
targets = ["torch-python"]

[target.torch-python]
package = "ops"
kernels = ["kernels"]
fakes = ["kernels"]
"""
SCHEMA = """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu_cpu
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: add_cpu
"""
KERNELS = "def relu_cpu(self): ...\ndef add_cpu(self, other): ...\n"


def write_project(case: Path, project: Path) -> None:
    name, text = case.name, case.read_text()
    (project / "kernels.py").write_text(KERNELS)
    usual_config = CONFIG + ('kernels = ["kernels"]\n' if "kernel" in name else "")
    if name.startswith("torch_"):
        usual_config = CONFIG_FOR_TORCH
    for path, suffix, usual in (
        ("torchgen_lite.toml", ".toml", usual_config),
        ("native_functions.yaml", ".yaml", SCHEMA),
    ):
        (project / path).write_text(text if case.suffix == suffix else usual)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str, run: Callable[..., Result], project: Path) -> None:
    case = HERE / name
    write_project(case, project)
    result = run(*shlex.split(case.read_text() if case.suffix == ".args" else "lint"))
    said = f"exit code {result.code}\n\n{result.stderr}"
    expect(case.with_suffix(".txt"), said)
    assert "[TG" in said or "Error:" in said
    assert said.count("\n  = help: ") + said.count("\n   = help: ") >= said.count("[TG")


@pytest.mark.parametrize("name", [name for name in CASES if not name.endswith(".args")])
def test_what_is_fixed(name: str, run: Callable[..., Result], project: Path) -> None:
    case = HERE / name
    write_project(case, project)
    files = [project / "torchgen_lite.toml", project / "native_functions.yaml"]
    before = [path.read_text() for path in files]
    run("lint", "--fix", "--unsafe-fixes")
    changed = [path.read_text() for path, old in zip(files, before) if path.read_text() != old]
    expected = case.with_suffix(".fixed")
    if os.environ.get("UPDATE_EXPECT"):
        expected.write_text(changed[0]) if changed else expected.unlink(missing_ok=True)
    assert changed[:1] == ([expected.read_text()] if expected.exists() else [])
    after = [path.read_text() for path in files]
    run("lint", "--fix", "--unsafe-fixes")
    assert [path.read_text() for path in files] == after, "nothing is left that it would fix"
