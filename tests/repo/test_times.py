"""The table of where CI's time goes is made from its log."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import times
from tests.conftest import ROOT

LOG = """\

== one: install (at 0 s)
Installing

== two: tests (at 31 s)
..s. [100%]
tests/unit: 61.5 s
tests/cases: 6.2 s
tests/errors: 0.4 s
tests/mistakes: 1.1 s
4 passed, 1 skipped in 40.0s

== the types (beside others, for 12 s)
Success: no issues

== the end (at 75 s)
"""
TABLE = """\
| step | seconds | of its tests, on both cores |
|---|---|---|
| one: install | 31 |  |
| two: tests | 44 | `tests/unit` 62, `tests/cases` 6, others 2 |
| beside others: the types | 12 |  |
"""


def test_a_table_is_made_from_a_log() -> None:
    assert times.table(LOG) == TABLE


def test_the_page_gets_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, log = tmp_path / "page.md", tmp_path / "run.log"
    monkeypatch.setattr(times, "PAGE", page)
    page.write_text(f"before\n{times.BEGIN}\nold\n\n{times.END}after\n")
    log.write_text(LOG)
    times.main([str(log), "--write"])
    assert page.read_text() == f"before\n{times.BEGIN}\n{TABLE}\n{times.END}after\n"
    real = (ROOT / "CONTRIBUTING.md").read_text()
    assert real.index(times.BEGIN) < real.index(times.END)


def test_the_script_prints_what_the_table_is_made_from(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "run").read_text()
    functions = re.search(r"^step\(\) .*?(?=\n\n# `environment )", script, re.M | re.S)
    assert functions is not None
    use = "step one; beside types echo said; step two; ended types; beside more false; step 'the end'; ended more"
    done = subprocess.run(
        ["bash", "-c", f"set -e; work={tmp_path}\n{functions[0]}\n{use}; echo never"],
        capture_output=True,
        text=True,
    )
    log = done.stdout
    assert [found.name for found in times.steps(log)] == ["one", "two"]
    # All that was printed is shown, and a failure ends the run.
    names = ["beside others: types", "beside others: more"]
    assert [found.name for found in times.beside(log)] == names
    assert (done.returncode, done.stderr) == (1, "")
    assert "s)\nsaid\n" in log and "never" not in log
    # The last one is no step.
    assert script.rstrip().endswith('step "the end"')
    assert all("--by-folder" in line for line in script.splitlines() if "-m pytest" in line)


def test_tests_say_how_long_each_folder_took() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--by-folder", "tests/unit/test_key_tables.py"]
    said = subprocess.check_output(command, cwd=ROOT, text=True)
    assert re.search(r"^tests/unit: \d+\.\d s$", said, re.M)
