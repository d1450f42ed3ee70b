"""Whose is the crash of examples/rms_norm? Trains in two processes, many times, beside PyTorch's own normalization.

    LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 python -m tests.cpp.rms_norm_crashes [REPETITIONS]

Once in some forty runs a process of the training ended with "malloc(): unaligned tcache chunk detected", and once with
"terminate called without an active exception". The kernels were Python's, so that all memory was that of PyTorch and gloo.
It has not been seen again: of 150 repetitions of each, on two cores and under MALLOC_CHECK_=3, none crashed.
The processes of a repetition are forked, train eagerly under FSDP2 and tensor parallel, and end as a program does: with
`destroy_process_group`, then the interpreter's own end, and then that of the C++ libraries. Every second repetition has
`torch.nn.functional.rms_norm` in place of the generated operator: a crash there is not ours. What crashes leaves a core
in the folder that is printed, of which gdb shows the threads (`ulimit -c unlimited` before).
"""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tests.conftest import ROOT

PROCESSES = 2


def training() -> Any:
    """The example's program as a module, with few steps."""
    sys.path.insert(0, str(ROOT / "examples" / "rms_norm"))
    import train

    train.STEPS = 1
    return train


def work(train: Any, operator: Any, rank: int, folder: Path) -> None:
    """What one process does, in a folder of its own, where its core would be."""
    (folder / str(rank)).mkdir()
    os.chdir(folder / str(rank))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=PROCESSES)
    mesh = train.init_device_mesh("cpu", (PROCESSES,))
    for spread in (train.fsdp, train.tensor_parallel):
        train.losses(operator, spread, mesh)
    dist.barrier()
    dist.destroy_process_group()


def ends(train: Any, operator: Any, folder: Path) -> list[int]:
    """How the processes of one repetition end: 0, an exit code, or minus a signal."""
    started = []
    for rank in range(PROCESSES):
        child = os.fork()
        if not child:
            work(train, operator, rank, folder)
            sys.exit(0)
        started.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in started]


def main(repetitions: int) -> None:
    faulthandler.enable()
    train = training()
    operators = {"ours": train.operator_of("python"), "PyTorch's": train.add_rms_norm_by_torch}
    root = Path(tempfile.mkdtemp())
    runs, crashes = Counter[str](), Counter[str]()
    for repetition in range(repetitions):
        for name, operator in operators.items():
            folder = root / f"{repetition}-{name[:4]}"
            folder.mkdir()
            codes = ends(train, operator, folder)
            runs[name] += 1
            if any(codes):
                crashes[name] += 1
                print(f"{name}: {codes} in {folder}", flush=True)
    for name, count in runs.items():
        print(f"{name}: {crashes[name]} of {count} repetitions crashed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
