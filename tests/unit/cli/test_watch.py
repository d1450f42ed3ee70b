"""`generate --watch`, in a separate process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result

pytest.importorskip("watchfiles")

Run = Callable[..., Result]
GOOD = "- func: lib::{name}(Tensor self) -> Tensor\n"


class Watching:
    """The process of `generate --watch`, and its output."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torchgen_lite", "generate", "--watch", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )

    def until_it_waits(self) -> str:
        """The output until the process waits for the next save."""
        said = ""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("watching "):
                return said
            said += line
        raise AssertionError(said)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture
def watching(project: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(project, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


def names(project: Path) -> str:
    return (project / "generated/python/ops/functions.pyi").read_text()


def test_each_save_is_written_and_a_mistake_is_not(
    watching: Callable[..., Watching], project: Path
) -> None:
    schema, other = project / "native_functions.yaml", project / "other.txt"
    one = watching()
    assert one.until_it_waits() == "12 files written in generated\n"
    schema.write_text(GOOD.format(name="first"))
    assert " written" in one.until_it_waits()
    assert "def first(" in names(project)
    other.write_text("is not looked at")
    schema.write_text(GOOD.format(name="second").replace("Tensor self", "Tensr self"))
    said = one.until_it_waits()
    assert "error[TG202]: unknown type `Tensr`" in said and "nothing was written" in said
    assert "def first(" in names(project), "the last good output stays"
    # Save as editors do: a new file replaces the old one.
    new = project / "new.tmp"
    new.write_text(GOOD.format(name="third"))
    new.replace(schema)
    assert " written" in one.until_it_waits()
    assert "def third(" in names(project)
    (project / "torchgen_lite.toml").write_text('[target.python]\npackage = "other"\n')
    assert "generated/python/ops" in one.until_it_waits()
    assert (project / "generated/python/other").is_dir()
    assert one.end(signal.SIGTERM) == 143


def test_templates_and_modules_are_watched(
    watching: Callable[..., Watching], run: Run, project: Path
) -> None:
    run("templates", "export", "python/package.py.j2", "--output-dir", "mine")
    (project / "kernels.py").write_text("def relu(self): ...\n")
    (project / "torchgen_lite.toml").write_text(
        'template-dirs = ["mine"]\n[target.python]\npackage = "ops"\nkernels = ["kernels"]\n'
    )
    one = watching()
    assert " written" in one.until_it_waits()
    template = project / "mine/python/package.py.j2"
    template.write_text(template.read_text() + "# The end.\n")
    assert one.until_it_waits().startswith("1 file written, ")
    (project / "mine/python/functions.py.j2").write_text("")
    assert "error[TG5" in one.until_it_waits(), "no template-api"
    (project / "mine/python/functions.py.j2").unlink()
    one.until_it_waits()
    (project / "kernels.py").write_text("def other(self): ...\n")
    assert "no module of `kernels` defines `relu`" in one.until_it_waits()
    assert one.end(signal.SIGTERM) == 143


def test_what_it_does_not_go_with(run: Run, project: Path) -> None:
    for option in ("--check", "--diff", "--dry-run", "--output-format=json"):
        assert run("generate", "--watch", option).code == 2
