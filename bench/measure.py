"""Timing whole processes in pairs: wall and processor seconds and peak memory of each run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Run(NamedTuple):
    """One finished process: seconds on the clock, processor seconds, and peak memory in MiB."""

    wall: float
    cpu: float
    peak: float


def run(
    command: Sequence[str],
    cwd: str | None = None,
    expect: int = 0,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Run a command to its end and account for it. Raises RuntimeError if it exits otherwise than expected.

    Byte code is written and read, as users have it, whatever the environment says.
    """
    env = {k: v for k, v in (env or os.environ).items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expect:
        raise RuntimeError(f"{' '.join(command)} exited {process.returncode}\n{errors}")
    # Linux reports kilobytes, macOS bytes.
    peak = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    return Run(wall, usage.ru_utime + usage.ru_stime, peak)


def median(runs: Sequence[Run]) -> Run:
    """The median of each figure by itself."""
    return Run(*(statistics.median(figure) for figure in zip(*runs)))


def line(name: str, figures: Run, base: Run | None = None) -> str:
    """One row: the medians, and the ratios to `base` where there is one."""
    ratios = ""
    if base is not None:
        ratios = f"   {figures.cpu / base.cpu:6.3f} of its time, {figures.peak / base.peak:5.2f} of its memory"
    return (
        f"{name:46s} {figures.wall:7.2f} s {figures.cpu:7.2f} s cpu {figures.peak:7.0f} MiB{ratios}"
    )
