"""Every line of C++ in the repository, by hand or generated, is as clang-format leaves it: in the style of the root, or
of an example whose author has another one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import clang_format, needs_clang_format

FOLDERS = ("bench", "examples", "tests", "torchgen_lite")


def sources(folder: Path) -> list[Path]:
    """The files of C++ below a folder, without those of builds and of hidden folders."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts[:-1]
        if path.suffix in (".cpp", ".h") and not any(p.startswith(("build", ".")) for p in parts):
            found.append(path)
    return found


@needs_clang_format
@pytest.mark.parametrize("folder", FOLDERS)
def test_clang_format_changes_nothing(folder: str) -> None:
    program, files = clang_format(), sources(ROOT / folder)
    assert program is not None and files
    options = ("--dry-run", "-Werror", "--style=file")
    done = subprocess.run([program, *options, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_clang_format
def test_it_sees_what_is_wrong(tmp_path: Path) -> None:
    """The style is read: indented by four, and not by two, is a change."""
    program = clang_format()
    assert program is not None
    (tmp_path / "wrong.cpp").write_text("int main() {\n    return 0;\n}\n")
    assert sources(tmp_path) == [tmp_path / "wrong.cpp"]
    options = ("--dry-run", "-Werror", f"--style=file:{ROOT / '.clang-format'}")
    done = subprocess.run([program, *options, *sources(tmp_path)], capture_output=True)
    assert done.returncode == 1
