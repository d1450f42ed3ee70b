"""What a tutorial, and the page of messages, says happens when its reader types along.

A page is worked through from top to bottom, in an empty folder. A `diff` block changes the file that its first line names;
a block whose first line is `# NAME +` is appended to a file; `console` blocks are commands with what they print, where `...`
stands for any text, of any number of lines where it is a line of its own. `UPDATE_EXPECT=1` writes what commands print.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.blocks import commands, fences, matches, printed_by, reader
from tests.conftest import ROOT
from tests.cpp.compiling import quick_compiler
from tests.cpp.torch_ops import PROGRAMS
from tests.forks import forking_python

# The others need PyTorch.
PLAIN = {"tutorial-library"}
PAGES = [
    pytest.param(page, id=page.stem, marks=[] if page.stem in PLAIN else [pytest.mark.torch])
    for pattern in ("tutorial-*.md", "troubleshooting.md")
    for page in sorted((ROOT / "docs").glob(pattern))
]
UPDATE = bool(os.environ.get("UPDATE_EXPECT"))
NEEDS = ["git", "cmake", "ninja", "g++"]
# Where pages show what is wrong with code, g++ says it.
_COMPILER = """\
#!/bin/sh
"{quick}" "$@" 2>/dev/null || exec "{gcc}" "$@"
"""


def change(file: Path, lines: list[str]) -> None:
    """Replace the lines that begin with ` ` or `-` by those that begin with ` ` or `+`; they are there once."""
    old, new = (
        "".join(f"{line[1:]}\n" for line in lines if not line.startswith(other)) for other in "+-"
    )
    text = file.read_text()
    assert text.count(old) == 1, f"{file.name} has this {text.count(old)} times:\n{old}"
    file.write_text(text.replace(old, new))


@pytest.mark.slow("each command of a page, builds too")
@pytest.mark.tools
@pytest.mark.parametrize("page", PAGES)
def test_a_reader_who_types_along_sees_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    if not all(shutil.which(name, path=PROGRAMS) for name in NEEDS):
        pytest.skip(f"needs {', '.join(NEEDS)}")
    folder, text = tmp_path / "work", page.read_text()
    environment = reader(tmp_path / "bin")
    if page.stem not in PLAIN:
        forking_python(tmp_path / "bin/python")
    if "cmake --build" in text:
        # CMake takes the first `c++` that it finds.
        program = tmp_path / "bin/c++"
        program.write_text(_COMPILER.format(quick=quick_compiler(), gcc=quick_compiler("g++")))
        program.chmod(0o755)
    folder.mkdir()
    for language, body, _ in fences(text):
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
