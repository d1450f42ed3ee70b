"""Typical mistakes, and what is said about each.

<case>.yaml     the operators of a project that is right otherwise
<case>.toml     its configuration
<case>.args     a command line
<case>.txt      the exit code, and what is said; `UPDATE_EXPECT=1 pytest tests/mistakes` writes it
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

HERE = Path(__file__).parent
CASES = sorted(p.name for p in HERE.iterdir() if p.suffix in (".yaml", ".toml", ".args"))
CONFIG = '[target.python]\npackage = "ops"\n'
SCHEMA = """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu_cpu
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: add_cpu
"""
KERNELS = "def relu_cpu(self): ...\ndef add_cpu(self, other): ...\n"


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str, run: Callable[..., Result], project: Path) -> None:
    case = HERE / name
    text = case.read_text()
    (project / "kernels.py").write_text(KERNELS)
    usual_config = CONFIG + ('kernels = ["kernels"]\n' if "kernel" in name else "")
    for path, suffix, usual in (
        ("torchgen_lite.toml", ".toml", usual_config),
        ("native_functions.yaml", ".yaml", SCHEMA),
    ):
        (project / path).write_text(text if case.suffix == suffix else usual)
    result = run(*shlex.split(text if case.suffix == ".args" else "lint"))
    said = f"exit code {result.code}\n\n{result.stderr}"
    expected = case.with_suffix(".txt")
    if os.environ.get("UPDATE_EXPECT"):
        expected.write_text(said)
    assert said == expected.read_text()
    assert "[TG" in said or "Error:" in said
