"""What rows of the matrix are made of, and how one ends. With TLC_TRACE in the environment, tracebacks are shown."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

WORKS = "works"
LOOP = "works, by a loop"


class Wrong(Exception):
    """A result that is not what PyTorch's own functions give."""


class Refused(Exception):
    """What PyTorch or generated code says of several calls."""


class Looped(Exception):
    """The operator is called for each item, where one call would do."""


class Row(NamedTuple):
    """One thing that is done to an operator: `probe` returns if it works, and raises if not."""

    name: str
    probe: Callable[[], None]


ROWS: list[Row] = []


def row(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """The function is the row of this title, in the group that the docstring of its module begins with."""

    def register(probe: Callable[[], None]) -> Callable[[], None]:
        group = (sys.modules[probe.__module__].__doc__ or "").partition(":")[0]
        ROWS.append(Row(f"{group}: {title}", probe))
        return probe

    return register


def same(found: Any, wanted: Any) -> None:
    """Refuse what is not close to what was wanted, in its structure, too."""
    import torch

    try:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    except AssertionError as error:
        raise Wrong("no result" if "None mismatch" in str(error) else "another result") from None


def holds(condition: Any, otherwise: str) -> None:
    """Refuse what does not hold."""
    if not condition:
        raise Wrong(otherwise)


def printed(call: Callable[[], Any]) -> str:
    """What is written to standard output while a function runs, also by C++."""
    read, write = os.pipe()
    sys.stdout.flush()
    before = os.dup(1)
    os.dup2(write, 1)
    try:
        call()
    finally:
        os.dup2(before, 1)
        os.close(write)
    with os.fdopen(read) as pipe:
        return pipe.read()


def cell(probe: Callable[[], object]) -> str:
    """How a row ends: that it works, what is wrong, or the message by which it is refused."""
    try:
        found = probe()
    except Wrong as error:
        return f"wrong: {error}"
    except Looped:
        return LOOP
    except Refused as error:
        return f"refused: {error}"
    except BaseException as error:
        if "TLC_TRACE" in os.environ:
            traceback.print_exc()
        return f"refused: {first_line(error)}"
    return found if isinstance(found, str) else WORKS


def first_line(error: BaseException) -> str:
    """The beginning of the message that came first, without what differs from one machine to another."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = next((line for line in lines if not line.endswith("raised:")), "")
    line = f"{type(error).__name__}: {line}"
    line = re.sub(r"0x[0-9a-f]+", "0x...", line)
    line = re.sub(r"(/[\w.+-]+){2,}/", "", line)
    return line if len(line) <= 160 else line[:157] + "..."
