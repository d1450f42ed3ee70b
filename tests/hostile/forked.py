"""Runs of the command line, each in a process that is forked for it, as the console script.

What forks is a small process that has run some commands before: to fork the one that has all tests in its memory takes
several times as long as a run. It is asked for one thing after the other, and ends with the process that asks.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import io
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

# This as a stream has its text told; others are the name of a file, or None: closed.
AS_USUAL = ""
# What the language server reads.
_REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
HELLO = b"Content-Length: %d\r\n\r\n%s" % (len(_REQUEST), _REQUEST)
STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.chmod", "os.link")


class Ended(NamedTuple):
    """The exit code, or the signal as a negative number, and what the usual streams have."""

    code: int
    said: str


def nothing() -> None:
    """What runs before a command that is not disturbed."""


class Asked(NamedTuple):
    """What a command runs with; `count` of them begin at the same time."""

    command: str
    folder: str
    stdout: str | None = AS_USUAL
    stderr: str | None = AS_USUAL
    # No file may have more bytes, as on a disk that is full.
    most: int = -1
    begin: Callable[[], object] = nothing
    count: int = 1


class Rehearsal(NamedTuple):
    """Commands that the process itself runs: what is imported once is there in every fork."""

    commands: Sequence[str]
    folder: str


def forked(
    command: str,
    stdout: str | None = AS_USUAL,
    stderr: str | None = AS_USUAL,
    most: int = -1,
    begin: Callable[[], object] = nothing,
) -> Ended:
    """Run a command in the current folder, after `begin`, which is pickled."""
    asked = Asked(command, os.getcwd(), stdout, stderr, most, begin)
    [ended] = answer(asked)
    return ended


def several(command: str, count: int) -> list[int]:
    """Exit codes of runs that begin at the same time."""
    asked = Asked(command, os.getcwd(), count=count)
    return [ended.code for ended in answer(asked)]


def rehearse(commands: Sequence[str], folder: Path) -> None:
    answer(Rehearsal(commands, str(folder)))


def answer(asked: Asked | Rehearsal) -> list[Ended]:
    connection = _connection()
    connection.send(asked)
    ended: list[Ended] = connection.recv()
    return ended


@cache
def _connection() -> Connection:
    """To the process that forks."""
    ours, theirs = Pipe()
    number = theirs.fileno()
    program = f"from tests.hostile import forked; forked.serve({number})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program]
    server = subprocess.Popen(command, env=environment, pass_fds=[number])
    theirs.close()
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def serve(number: int) -> None:
    connection = Connection(number)
    while True:
        try:
            asked = connection.recv()
        except EOFError:
            return
        os.chdir(asked.folder)
        if isinstance(asked, Rehearsal):
            _run_here(asked.commands)
            connection.send([])
        else:
            connection.send(_run(asked))


def _run_here(commands: Sequence[str]) -> None:
    from torchgen_lite.cli import main

    for command in commands:
        main(command.split(), io.StringIO(), io.StringIO())
    # No fork looks through what they share with the others.
    gc.collect()
    gc.freeze()


def _run(asked: Asked) -> list[Ended]:
    gate, opened = os.pipe()
    runs = []
    for _ in range(asked.count):
        said, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(opened)
            os.read(gate, 1)
            _become(asked, writing)
        os.close(writing)
        runs.append((child, said))
    os.close(gate)
    os.close(opened)
    ends = []
    for child, said in runs:
        with open(said, encoding="utf-8") as pipe:
            text = pipe.read()
        ends.append(Ended(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text))
    return ends


def _become(asked: Asked, writing: int) -> None:
    """Run the command with its streams, and end."""
    from torchgen_lite.cli import run

    try:
        reading, input = os.pipe()
        os.write(input, HELLO)
        os.close(input)
        os.dup2(reading, 0)
        sys.stdin = os.fdopen(0, closefd=False)
        for number, name, given in ((1, "stdout", asked.stdout), (2, "stderr", asked.stderr)):
            if given is None:
                os.close(number)
                setattr(sys, name, None)
                continue
            os.dup2(os.open(given, os.O_WRONLY) if given else writing, number)
            setattr(sys, name, os.fdopen(number, "w", closefd=False))
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked.most, asked.most))
        sys.argv = ["torchgen-lite", *asked.command.split()]
        asked.begin()
        run()
    except SystemExit as stopped:
        os._exit(int(stopped.code or 0))
    finally:
        os._exit(70)


def stop_at(step: int, number: int, folder: Path) -> None:
    """Have this process get a signal when it does something to the folder for the `step`th time."""
    steps = 0
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)

    def watch(event: str, values: tuple[Any, ...]) -> None:
        nonlocal steps
        # What has the number of a folder is below one for temporary files.
        if (
            event not in STEPS
            or isinstance(values[0], int)
            or (event != "open" and values[-1] != -1)
        ):
            return
        if not os.path.abspath(values[0]).startswith(str(folder)):
            return
        if event != "open" or (values[2] or 0) & (os.O_WRONLY | os.O_RDWR):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), number)

    sys.addaudithook(watch)


def become_mortal() -> None:
    """Without what lets root write anywhere (CAP_DAC_OVERRIDE): modes of files count then."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version, data = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    libc.capget(ctypes.create_string_buffer(version), data)
    effective, *others = struct.unpack("6I", data.raw)
    changed = ctypes.create_string_buffer(struct.pack("6I", effective & ~0b110, *others))
    if libc.capset(ctypes.create_string_buffer(version), changed):
        raise OSError(ctypes.get_errno(), "capset")
