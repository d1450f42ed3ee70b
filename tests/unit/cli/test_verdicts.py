"""A verdict is given only by a command that ran to its end."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest

from tests.conftest import ROOT, Result
from tests.unit.cli.against.conftest import git
from torchgen_lite.cli import main
from torchgen_lite.cli.app import cli
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.registry import GROUP, _load

Run = Callable[..., Result]
IN_BUILD = "def build(program, options): {}\n"
TARGET = """\
from torchgen_lite.targets.output import Target
TARGET = Target("plugged", "A target that ends the run.", "plugged_in:build")
"""
ENDS = (
    *("raise SystemExit", "raise SystemExit(0)", "raise BrokenPipeError", "raise EOFError"),
    *("raise __import__('click').exceptions.Exit(0)", "raise __import__('click').Abort"),
)


@pytest.fixture
def plugged(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give the project a target whose module has this text."""

    def plug(text: str) -> None:
        (project / "plugged_in.py").write_text(text)
        (project / "torchgen_lite.toml").write_text('targets = ["torch-stubs", "plugged"]\n')
        entry = EntryPoint("plugged", "plugged_in:TARGET", GROUP)
        monkeypatch.setitem(vars(TARGETS), "_others", {"plugged": entry})
        _load.cache_clear()

    monkeypatch.syspath_prepend(project)
    monkeypatch.delitem(sys.modules, "plugged_in", raising=False)
    return plug


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("command", ["check", "generate", "diff", "review --against HEAD"])
def test_a_target_that_ends_the_run(
    run: Run, project: Path, plugged: Callable[[str], None], command: str, end: str
) -> None:
    plugged(TARGET + IN_BUILD.format(end))
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "one")
    result = run(*command.split())
    assert (result.code, result.stdout) == (2, "")
    assert "error[TG900]: internal error: " in result.stderr or "cannot write" in result.stderr
    assert not (project / "generated").exists()


@pytest.mark.parametrize("command", ["check", "generate", "lint", "review --against ."])
def test_a_target_that_ends_the_run_when_it_is_imported(
    run: Run, project: Path, plugged: Callable[[str], None], command: str
) -> None:
    plugged("raise SystemExit('please install foo')\n")
    result = run(*command.split())
    assert result.code == 2
    said = "error[TG514]: target `plugged` of `plugged_in` cannot be loaded: SystemExit: please install foo\n"
    assert result.stderr.startswith(said)


class Closed(io.StringIO):
    """A pipe that nobody reads."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    def flush(self) -> None:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("review --against old.yaml", 1),
        ("breaking --against old.yaml --output-format json", 1),
        ("breaking --against old.yaml --output-format markdown", 1),
        ("generate --dry-run", 0),
        ("list ops", 0),
        ("list nonsense", 2),
        ("--help", 0),
        ("", 2),
    ],
)
def test_a_reader_that_is_gone_changes_no_verdict(
    run: Run, project: Path, command: str, code: int
) -> None:
    (project / "old.yaml").write_text("- func: gone(Tensor self) -> Tensor\n")
    assert run(*command.split()).code == code
    assert main(command.split(), Closed(), Closed()) == code


def test_a_command_that_says_nothing_is_no_verdict(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = click.Command("check", callback=lambda: None)
    monkeypatch.setattr(cli, "get_command", lambda context, name: silent)
    assert run("check").code == 2


def test_completions_are_what_a_shell_asks_for() -> None:
    asked = {"_TORCHGEN_LITE_COMPLETE": "bash_complete", "COMP_WORDS": "x che", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "torchgen_lite"],
        cwd=ROOT,
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,check\n", "")


IN_A_PROCESS = """\
import sys
from importlib.metadata import EntryPoint
from torchgen_lite.cli import main
from torchgen_lite.targets import TARGETS
vars(TARGETS)["_others"] = {"plugged": EntryPoint("plugged", "plugged_in:TARGET", "x")}
main(["check", *sys.argv[1:]], sys.stdout, sys.stderr)
"""


@pytest.mark.parametrize("asked", [(), ("--output-format", "json")])
def test_a_process_that_ends_gives_no_verdict(
    project: Path, plugged: Callable[[str], None], asked: tuple[str, ...]
) -> None:
    """Nothing can be done about `os._exit`; but what `check` says last is missing."""
    plugged(TARGET + IN_BUILD.format("__import__('os')._exit(0)"))
    path = {**os.environ, "PYTHONPATH": os.pathsep.join((str(project), str(ROOT)))}
    command = [sys.executable, "-c", IN_A_PROCESS, *asked]
    done = subprocess.run(command, cwd=project, env=path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    plugged(TARGET + IN_BUILD.format("raise SystemExit"))
    done = subprocess.run(command, cwd=project, env=path, capture_output=True, text=True)
    assert "TG900" in done.stdout + done.stderr
