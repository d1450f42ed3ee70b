"""What a tutorial says happens when its reader types along.

A page is worked through from top to bottom, in an empty folder. A `diff` block changes the file that its first line names;
a block whose first line is `# NAME +` is appended to a file; `console` blocks are commands with what they print, where `...`
stands for any text, of any number of lines where it is a line of its own. `UPDATE_EXPECT=1` writes what commands print.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.torch_ops import PROGRAMS

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The others need PyTorch.
PLAIN = {"tutorial-library"}
PAGES = [
    pytest.param(page, id=page.stem, marks=[] if page.stem in PLAIN else [pytest.mark.torch])
    for page in sorted((ROOT / "docs").glob("tutorial-*.md"))
]
UPDATE = bool(os.environ.get("UPDATE_EXPECT"))
NEEDS = ["git", "cmake", "ninja", "g++"]


def change(file: Path, lines: list[str]) -> None:
    """Replace the lines that begin with ` ` or `-` by those that begin with ` ` or `+`; they are there once."""
    old, new = (
        "".join(f"{line[1:]}\n" for line in lines if not line.startswith(other)) for other in "+-"
    )
    text = file.read_text()
    assert text.count(old) == 1, f"{file.name} has this {text.count(old)} times:\n{old}"
    file.write_text(text.replace(old, new))


def matches(shown: str, printed: str) -> bool:
    """Whether a text is what is shown, `...` standing for anything."""
    lines = (
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*?") + "\n"
        for line in shown.splitlines()
    )
    return re.fullmatch("".join(lines), printed) is not None


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Programs as the reader calls them, and a terminal without a color."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("python", ""), ("torchgen-lite", "-m torchgen_lite")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    who = {
        f"GIT_{role}_{what}": "you@x"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    return {
        # `CI` and `BUILD_NUMBER` make pytest print whole messages.
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and name not in {"CI", "BUILD_NUMBER"}
        },
        **who,
        "PATH": f"{programs}{os.pathsep}{PROGRAMS}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        "MAX_JOBS": "2",
        # What another package adds to pytest here, a reader's pytest does not say.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = f"{command}\n{more}"
        yield command, shown


def printed_by(command: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


@pytest.mark.tools
@pytest.mark.parametrize("page", PAGES)
def test_a_reader_who_types_along_sees_what_the_page_shows(
    page: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    if not all(shutil.which(name, path=PROGRAMS) for name in NEEDS):
        pytest.skip(f"needs {', '.join(NEEDS)}")
    folder, text = tmp_path / "work", page.read_text()
    folder.mkdir()
    for language, body in BLOCK.findall(text):
        first, _, rest = body.partition("\n")
        if language == "diff":
            change(folder / first.removeprefix("# "), rest.splitlines())
        elif first.startswith("# ") and first.endswith(" +"):
            with (folder / first[2:-2]).open("a") as file:
                file.write(f"\n{rest}")
        elif language == "console":
            found = ""
            for command, shown in commands(body):
                if command.startswith("cd "):
                    folder = (folder / command[3:]).resolve()
                    printed = ""
                else:
                    printed = printed_by(command, folder, environment)
                same = matches(shown, printed)
                assert same or UPDATE, f"$ {command}\n{printed}"
                found += f"$ {command}\n{shown if same else printed}"
            if found != body:
                text = text.replace(f"```console\n{body}```", f"```console\n{found}```", 1)
                page.write_text(text)
