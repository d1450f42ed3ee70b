"""The headers of the C++ runtime: short, complete in themselves, formatted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_clang_format, needs_compiler, unformatted
from tests.cpp_runtime.building import HEADERS, HERE, INCLUDE, WARNINGS

# Those that users of the headers may have on, too.
MORE_WARNINGS = ("-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast")
# What another header includes before anything else is complete in itself if that one is.
OPENINGS = [re.search(r"#include <(.*)>", path.read_text()) for path in HEADERS]
FIRST = {opening[1] for opening in OPENINGS if opening}
ALONE = [path for path in HEADERS if f"torchgen_lite/{path.name}" not in FIRST]
CHECKED_FORMAT = [*HEADERS, *sorted(HERE.glob("*.cpp")), *sorted((HERE / "unit").iterdir())]


def test_headers_are_short() -> None:
    """The generated one is a table."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in HEADERS}
    del lengths["key_tables.h"]
    assert max(lengths.values()) < 400, lengths


@pytest.mark.slow("a compilation of each header")
@needs_compiler
def test_headers_stand_alone(tmp_path: Path) -> None:
    """Each can be included first, and twice, by a program that has nothing else."""
    sources = []
    for header in ALONE:
        source = tmp_path / f"{header.stem}.cpp"
        source.write_text(f"#include <torchgen_lite/{header.name}>\n" * 2)
        sources.append(str(source))
    flags = ("-std=c++17", "-fsyntax-only", *WARNINGS, *MORE_WARNINGS, f"-I{INCLUDE}")
    command = ["g++", *flags, *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_clang_format
@pytest.mark.parametrize("path", CHECKED_FORMAT, ids=lambda path: path.name)
def test_it_is_formatted(path: Path) -> None:
    assert unformatted([path.read_text()]) == ""
