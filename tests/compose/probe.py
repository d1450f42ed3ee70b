"""Every row of the matrix for one column: `python -m tests.compose.probe FOLDER [PART OF A ROW'S NAME]...` prints them.

Each row runs in a process of its own that is forked from this one, so that a row neither sees what another has done to
PyTorch nor takes it along when it crashes. With TLC_TRACE in the environment, tracebacks are shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

WORKS = "works"
LOOP = "works, by a loop"
_SECONDS = 300


class Wrong(Exception):
    """A result that is not what PyTorch's own functions give."""


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


def cell(probe: Callable[[], None]) -> str:
    """How a row ends: that it works, what is wrong, or the message by which it is refused."""
    try:
        probe()
    except Wrong as error:
        return f"wrong: {error}"
    except Looped:
        return LOOP
    except BaseException as error:
        if "TLC_TRACE" in os.environ:
            traceback.print_exc()
        return f"refused: {_message(error)}"
    return WORKS


def _message(error: BaseException) -> str:
    """The beginning of the message that came first, without what differs from one machine to another."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = next((line for line in lines if not line.endswith("raised:")), "")
    line = f"{type(error).__name__}: {line}"
    line = re.sub(r"0x[0-9a-f]+", "0x...", line)
    line = re.sub(r"(/[\w.+-]+){2,}/", "", line)
    return line if len(line) <= 160 else line[:157] + "..."


def _forked(probe: Callable[[], None]) -> str:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, _silenced(probe).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        is_done = select.select([pipe], [], [], _SECONDS)[0]
        if not is_done:
            os.kill(child, signal.SIGKILL)
        found = pipe.read() or ("wrong: crashes" if is_done else "wrong: never ends")
    os.waitpid(child, 0)
    return found


def _silenced(probe: Callable[[], None]) -> str:
    """The cell of a row, whose output is kept to find PyTorch's warning of a loop."""
    if "TLC_TRACE" in os.environ:
        return cell(probe)
    warnings.simplefilter("always")
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        found = cell(probe)
        sys.stderr.flush()
        said.seek(0)
        is_loop = b"There is a performance drop" in said.read()
    return LOOP if found == WORKS and is_loop else found


def _warm() -> None:
    """Import in this process what each row would, and compile once, which is quick from then on."""
    import torch

    torch.set_num_threads(1)
    for name in (
        "tests.compose.rows",
        "torch._dynamo",
        "torch._inductor.compile_fx",
        "torch.export",
    ):
        __import__(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(torch.relu, backend="aot_eager")(torch.ones(2))
    torch._dynamo.reset()


def main(folder: str, *only: str) -> None:
    """Print the cells of the column that is built in a folder."""
    sys.path[:0] = [folder, str(Path(folder) / "torch-python")]
    with contextlib.redirect_stdout(sys.stderr):
        __import__("tlc_ops")
        _warm()
    chosen = [one for one in ROWS if not only or any(part in one.name for part in only)]
    print(json.dumps({one.name: _forked(one.probe) for one in chosen}, indent=1))


if __name__ == "__main__":
    # The rows import this module by its name.
    from tests.compose.probe import main as run

    run(*sys.argv[1:])
