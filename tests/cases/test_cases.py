"""End-to-end cases: each is a folder with an input, a command and its expected results.

    <case>/input/       the project before
    <case>/command      the arguments, one line
    <case>/exit_code, stdout, stderr
    <case>/expected/    the files that the case is about, as the project has them afterwards

`UPDATE_EXPECT=1 pytest tests/cases` writes the actual results into these files.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.expected import expect

HERE = Path(__file__).parent
CASES = sorted(p.parent.name for p in HERE.glob("*/command"))


@pytest.mark.parametrize("name", CASES)
def test_case(
    name: str, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, project = HERE / name, tmp_path / "project"
    shutil.copytree(case / "input", project)
    monkeypatch.chdir(project)
    for variable in ("NO_COLOR", "FORCE_COLOR", "TORCHGEN_LITE_OUTPUT_FORMAT"):
        monkeypatch.delenv(variable, raising=False)
    result = run(*shlex.split((case / "command").read_text()))
    compare(case / "exit_code", f"{result.code}\n")
    compare(case / "stdout", result.stdout)
    compare(case / "stderr", result.stderr)
    for expected in sorted(p for p in (case / "expected").rglob("*") if p.is_file()):
        compare(expected, (project / expected.relative_to(case / "expected")).read_text())
    listing = sorted(p.relative_to(project).as_posix() for p in project.rglob("*") if p.is_file())
    compare(case / "tree", "".join(f"{path}\n" for path in listing))


def compare(expected: Path, text: str) -> None:
    """A file that is not there has an empty text."""
    if text or expected.exists():
        expect(expected, text)
