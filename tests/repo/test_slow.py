"""In CI, a test that takes long needs the mark `slow`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

TESTS = """\
import pytest


def test_without_a_mark():
    pass


@pytest.mark.slow("the reason")
def test_with_a_mark():
    pass


@pytest.mark.torch
def test_with_pytorch():
    pass
"""


def failures(folder: Path, **variables: str) -> list[str]:
    """The tests that fail where any time is too long."""
    (folder / "test_three.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nslow_seconds = -1\nmarkers =\n  slow\n  torch\n")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rf", "-p", "tests.conftest", "-p", "no:asyncio"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout
    return re.findall(r"^FAILED \S+::(\w+) - (.*)", done.stdout, re.M)


def test_a_test_that_takes_long_is_named(tmp_path: Path) -> None:
    [(name, why)] = failures(tmp_path, CI="1")
    assert name == "test_without_a_mark"
    assert re.fullmatch(r"Failed: it used a processor for \d+ s: .*mark it `slow`", why)


def test_nobody_else_is_stopped_by_a_slow_machine(tmp_path: Path) -> None:
    assert failures(tmp_path) == []


def test_every_mark_says_why() -> None:
    texts = [
        path.read_text()
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.name != Path(__file__).name
    ]
    marks = sum(text.count("mark.slow") for text in texts)
    reasons = sum(len(re.findall(r'mark\.slow\(\s*"\w', text)) for text in texts)
    assert reasons == marks > 5
