"""Folders of runs of tests that were killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT, remove_what_killed_runs_left

pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders are not held there")

HOLD = "import sys, pathlib, tests.conftest as c; c.hold(pathlib.Path(sys.argv[1])); print(flush=True); input()"


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the folder."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-c", HOLD, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        yield process
        process.kill()


def test_the_next_run_removes_them(tmp_path: Path) -> None:
    """They stayed in memory, for three days or until the third run after that. Of a process that has the number of a
    dead one, and of one that this process does not see, its number said the contrary."""
    memory = tmp_path / "memory" / "pytest-of-me"
    with holder(memory / "pytest-1") as first, holder(tmp_path / "torchgen_lite_tests_1") as second:
        # Their own numbers are those of processes that live.
        (memory / "pytest-1" / ".lock").write_text(str(os.getpid()))
        (memory / "pytest-1" / "test_0").mkdir()
        for process in (first, second):
            process.kill()
            process.wait()
        with (
            holder(memory / "pytest-2"),
            holder(tmp_path / "torchgen_lite_tests_2"),
        ):
            # A process of another container has a number that is nobody's here.
            (memory / "pytest-2" / ".lock").write_text(str(first.pid))
            # Those of a run that has ended, or of another project.
            (memory / "pytest-3").mkdir()
            (tmp_path / "torchgen_lite_tests_3").mkdir()
            remove_what_killed_runs_left(tmp_path / "memory", tmp_path)
            assert {path.name for path in memory.iterdir()} == {"pytest-2", "pytest-3"}
            left = {path.name for path in tmp_path.iterdir()}
            assert left == {"memory", "torchgen_lite_tests_2", "torchgen_lite_tests_3"}
