"""Fenced blocks of pages, the commands in them, and what these print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT, SOURCES
from tests.cpp.torch_ops import PROGRAMS

PAGES = {
    path.stem: path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
_FENCE = re.compile(r"( *)(`{3,})(.*)")


class Block(NamedTuple):
    """A fenced block of a page: its language (may be empty), its text, the line where it begins."""

    language: str
    text: str
    line: int


def fences(page: str) -> Iterator[Block]:
    """The blocks of a page. Raises ValueError for one that does not end: it would be skipped, with what follows."""
    opened: Block | None = None
    indent = marks = ""
    for number, line in enumerate(page.split("\n"), 1):
        fence = _FENCE.fullmatch(line)
        # A block with more marks shows one with fewer.
        if fence is None or len(fence[2]) < len(marks):
            if opened is not None:
                # In an item of a list a block is indented, as a whole.
                text = f"{opened.text}{line.removeprefix(indent)}\n"
                opened = opened._replace(text=text)
        elif opened is None and re.fullmatch(r"\w*", fence[3]):
            indent, marks, language = fence.groups()
            opened = Block(language, "", number)
        elif opened is not None and not fence[3]:
            yield opened
            opened, marks = None, ""
        else:
            where = f"in the block of line {opened.line}" if opened else "as the head of a block"
            raise ValueError(f"line {number}: `{line}` {where}")
    if opened is not None:
        raise ValueError(f"line {opened.line}: the block of `{opened.language}` does not end")


def blocks(page: str, language: str) -> list[str]:
    """The texts of the blocks of a page in one language."""
    return [block.text for block in fences(page) if block.language == language]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = f"{command}\n{more}"
        yield command, shown


def matches(shown: str, printed: str) -> bool:
    """Whether a text is what is shown.

    `...` stands for anything, and for any number of lines where it is a line of its own.
    """
    # The numbers of lines shown that the lines printed so far may be: a pattern of the whole would try all of them.
    lines = [_line_pattern(line) for line in shown.splitlines()]
    reached = _without_more(lines, {0})
    for line in printed.splitlines():
        further = {n + 1 for n in reached if n < len(lines) and _is_line(lines[n], line)}
        staying = {n for n in reached if n < len(lines) and lines[n] is None}
        reached = _without_more(lines, further | staying)
    return len(lines) in reached


def _line_pattern(line: str) -> re.Pattern[str] | None:
    """The pattern of a line; None for any number of lines."""
    return None if line == "..." else re.compile(re.escape(line).replace(r"\.\.\.", ".*"))


def _is_line(pattern: re.Pattern[str] | None, line: str) -> bool:
    return pattern is not None and pattern.fullmatch(line) is not None


def _without_more(lines: Sequence[re.Pattern[str] | None], reached: set[int]) -> set[int]:
    """The same, and behind each `...`, which may be no line at all."""
    found = set(reached)
    for number, pattern in enumerate(lines):
        if number in found and pattern is None:
            found.add(number + 1)
    return found


def reader(programs: Path) -> dict[str, str]:
    """The environment of a reader: programs as they call them, a terminal without a color."""
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
        "PYTHONPATH": os.pathsep.join(SOURCES),
        "COLUMNS": "100",
        "MAX_JOBS": "2",
        # What another package adds to pytest here, a reader's pytest does not say.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


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
