"""Runs that are stopped, and runs at the same time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchgen_lite.emit.lock import locked_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are forked and get signals")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
FULL = "torchgen-lite: cannot write the output: no space left on device\n"
COMMAND = (sys.executable, "-m", "torchgen_lite")


def counts(*arguments: str) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.unit.cli.forked", *arguments]
    result = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    found: dict[str, int] = json.loads(result.stdout)
    return found


def test_a_run_is_stopped_at_any_step(project: Path) -> None:
    found = counts("SIGTERM", "SIGHUP", "SIGINT", "SIGKILL")
    assert found.pop("runs") == found.pop("healed") > 30
    assert found == {
        "other exit codes": 0,
        "with temporary files": 0,
        "torn files": 0,
    }


def test_ten_at_once(project: Path) -> None:
    assert counts("3", "10") == {
        "exit code 0": 30,
        "fresh": 3,
        "seen by check": 0,
        "with other files": 0,
    }


def test_the_next_run_waits_and_says_so(project: Path) -> None:
    (project / "generated").mkdir()
    with locked_folder(project / "generated", lambda: None) as is_locked:
        assert is_locked
        process = subprocess.Popen(
            [*COMMAND, "generate"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        assert process.stderr.readline() == "waiting for another `generate` in `generated`\n"
        assert not any((project / "generated").iterdir())
    assert process.stderr.read() == "12 files written in generated\n"
    assert process.wait() == 0
    assert [p.name for p in (project / "generated").iterdir()] == ["python"]


def test_signals_that_are_ignored_stay_ignored(project: Path) -> None:
    program = (
        "import signal\nfrom torchgen_lite.cli.signals import stop_on_signals\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nstop_on_signals()\n"
        "print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    assert result.stdout == "True\n"


def test_a_second_signal_ends_the_process_at_once() -> None:
    program = (
        "import os, signal\nfrom torchgen_lite.cli.signals import stop_on_signals\n"
        "stop_on_signals()\n"
        "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n"
        "finally:\n    os.kill(os.getpid(), signal.SIGTERM)"
    )
    result = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT)
    assert result.returncode == -signal.SIGTERM


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("arguments", "redirection", "said"),
    [
        ("list keys", ">/dev/full", FULL),
        ("-q generate --output-format json", ">/dev/full", FULL),
        ("check", ">&-", "torchgen-lite: stdout is closed\n"),
        ("check", "2>&-", ""),
        ("check", "2>/dev/full", ""),
        ("nonsense", "2>/dev/full", ""),
    ],
)
def test_what_cannot_be_said(project: Path, arguments: str, redirection: str, said: str) -> None:
    """Exit code 1 means a stale output, or a crash of Python; an output error is neither."""
    line = f"{' '.join(COMMAND)} {arguments} {redirection}"
    result = subprocess.run(
        ["sh", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout, result.stderr) == (2, "", said)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [("list ops", 0), ("diff", 1), ("check", 1), ("check --output-format json", 1), ("lint", 0)],
)
def test_a_reader_that_went_away_does_not_change_the_exit_code(
    project: Path, arguments: str, code: int
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        result = subprocess.run(
            [*COMMAND, *arguments.split()], env=ENVIRONMENT, stdout=pipe, stderr=subprocess.DEVNULL
        )
    assert result.returncode == code


def test_nobody_reads_what_is_said(project: Path) -> None:
    line = f"{{ {' '.join(COMMAND)} check; echo $? >&3; }} 2>&1 >/dev/null | true"
    result = subprocess.run(
        ["sh", "-c", f"{{ {line}; }} 3>&1"], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.stdout == "1\n"
