"""Folders of runs of tests that were killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import remove_what_killed_runs_left


def test_the_next_run_removes_them(tmp_path: Path) -> None:
    """They stayed in memory, for three days or until the third run after that."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    memory = tmp_path / "memory"
    for name, process in (("pytest-1", dead.pid), ("pytest-2", os.getpid()), ("pytest-3", "")):
        folder = memory / "pytest-of-me" / name
        (folder / "test_0").mkdir(parents=True)
        (folder / ".lock").write_text(str(process))
    (memory / "pytest-of-me/pytest-4").mkdir()
    for process in (dead.pid, os.getpid()):
        (tmp_path / f"torchgen_lite_tests_{process}_x").mkdir()
    remove_what_killed_runs_left(memory, tmp_path)
    left = {path.name for path in (memory / "pytest-of-me").iterdir()}
    assert left == {"pytest-2", "pytest-3", "pytest-4"}
    assert {path.name for path in tmp_path.glob("torchgen*")} == {
        f"torchgen_lite_tests_{os.getpid()}_x"
    }
