"""Where the time of CI goes, as a table in Markdown, from the log of a run.

    .ci/run full 2>&1 | tee run.log
    python -m tests.times run.log           # prints it
    python -m tests.times run.log --write   # puts it into CONTRIBUTING.md, too

The log has when each step began, how long that took which ran beside steps, and after tests how long those of each
folder took (`pytest --by-folder`). Tests of two processes run side by side, so the folders of a step sum up to twice
its time on two cores.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
BEGIN, END = "<!-- python -m tests.times -->\n", "<!-- to here -->\n"
# Folders that take less are summed up.
LEAST = 5.0


class Step(NamedTuple):
    """A step of `.ci/run`, with the folders of its tests."""

    name: str
    seconds: int
    folders: dict[str, float]


_STEP = re.compile(r"^== (.*) \(at (\d+) s\)$", re.M)
_BESIDE = re.compile(r"^== (.*) \(beside others, for (\d+) s\)$", re.M)


def steps(log: str) -> Iterator[Step]:
    """Those of a log. The last heading has no step behind it: it says when the run ended."""
    found = _STEP.split(log)
    names, starts, texts = found[1::3], [int(start) for start in found[2::3]], found[3::3]
    for name, start, end, text in zip(names, starts, starts[1:], texts):
        lines = re.findall(r"^([\w/.]+): (\d+\.\d) s$", text, flags=re.M)
        yield Step(name, end - start, {folder: float(taken) for folder, taken in lines})


def beside(log: str) -> Iterator[Step]:
    """What ran beside steps, none of which has tests."""
    for name, seconds in _BESIDE.findall(log):
        yield Step(f"beside others: {name}", int(seconds), {})


def shown(folders: dict[str, float]) -> str:
    """The folders that take longest, and the sum of the others."""
    long = {folder: taken for folder, taken in folders.items() if taken >= LEAST}
    parts = [f"`{folder}` {taken:.0f}" for folder, taken in long.items()]
    rest = sum(folders.values()) - sum(long.values())
    if folders:
        parts.append(f"others {rest:.0f}")
    return ", ".join(parts)


def table(log: str) -> str:
    every = [*steps(log), *beside(log)]
    rows = [f"| {step.name} | {step.seconds} | {shown(step.folders)} |" for step in every]
    head = ["| step | seconds | of its tests, on both cores |", "|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def main(arguments: Sequence[str]) -> None:
    path, *options = arguments
    text = table(Path(path).read_text("utf-8", "replace"))
    print(text, end="")
    if options == ["--write"]:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    main(sys.argv[1:])
