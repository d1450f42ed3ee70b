"""Every cell of the matrix for one column: `python -m tests.compose.cells FOLDER [PART OF A ROW'S NAME]...` prints them.

Each row runs in a process of its own that is forked from this one, so that a row neither sees what another has done to
PyTorch nor takes it along when it crashes. With TLC_TRACE in the environment, tracebacks are shown. The names of rows
of the second axis, about inputs, begin with `Inputs: `.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.compose.build import BY_HAND
from tests.compose.inputs import KINDS, Kind
from tests.compose.probe import LOOP, ROWS, WORKS, cell
from tests.compose.treatments import DONE, Done, done_to

_SECONDS = 300


def _forked(probe: Callable[[], object]) -> str:
    """What a probe finds, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            pipe.write(_silenced(probe))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        is_done = select.select([pipe], [], [], _SECONDS)[0]
        if not is_done:
            os.kill(child, signal.SIGKILL)
        found = pipe.read() or ("wrong: crashes" if is_done else "wrong: never ends")
    os.waitpid(child, 0)
    return found


def _silenced(probe: Callable[[], object]) -> str:
    """The cell of a row, or the cells that it returns as JSON, whose output is kept to find PyTorch's warning of a loop."""
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
    # Columns may share what inductor has compiled, but no graphs: these know operators by their names, and each column has
    # another library of them.
    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(torch.relu, backend="aot_eager")(torch.ones(2))
    torch._dynamo.reset()


def _inputs(row: Done) -> dict[str, str]:
    """The cells of a row of the second axis, from one process; from one for each kind of input, if that crashes."""
    kinds = [kind for kind in KINDS if not row.kinds or kind.name in row.kinds]
    try:
        cells: dict[str, str] = json.loads(_forked(partial(_every, row, kinds)))
    except ValueError:
        cells = {kind.name: _forked(partial(done_to, row, kind)) for kind in kinds}
    return cells


def _every(row: Done, kinds: list[Kind]) -> str:
    return json.dumps({kind.name: cell(partial(done_to, row, kind)) for kind in kinds})


def main(folder: str, *only: str) -> None:
    """Print the cells of the column that is built in a folder."""
    sys.path[:0] = [folder, str(Path(folder) / "torch-python")]
    with contextlib.redirect_stdout(sys.stderr):
        __import__("tlc_ops")
        _warm()

    def is_chosen(name: str) -> bool:
        return not only or any(part in name for part in only)

    rows = {row.name: _forked(row.probe) for row in ROWS if is_chosen(row.name)}
    # What compiles takes long where it fails for some operators, since each is then compiled alone: not by hand.
    done = [row for row in DONE if not (row.is_together and Path(folder).name == BY_HAND)]
    inputs = {row.name: _inputs(row) for row in done if is_chosen(f"Inputs: {row.name}")}
    print(json.dumps({"rows": rows, "inputs": inputs}, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
