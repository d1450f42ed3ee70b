"""Commands that change files of the project: stopped at any step, run concurrently, and where they may not write."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.test_streams import ALL, READS, SAYS, content, forked, is_refused
from tests.hostile.test_streams import original as original
from tests.hostile.test_streams import project as project

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.chmod", "os.link")


def in_place(command: str, monkeypatch: pytest.MonkeyPatch, project: Path) -> Path:
    """Where the command runs: `init` wants a folder without a project."""
    folder = project / "empty" if command.startswith("init") else project
    monkeypatch.chdir(folder)
    return folder


def stop_at(step: int, number: int, folder: Path) -> Callable[[], None]:
    """What makes a process get a signal when it does something to the folder for the `step`th time."""

    def begin() -> None:
        steps = 0
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None

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

    return begin


@pytest.mark.parametrize("command", ALL)
def test_a_command_is_stopped_at_any_step(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No file is half-written, a signal that can be caught leaves nothing behind, and the next run does everything."""
    folder = in_place(command, monkeypatch, project)
    before = content(project)
    assert forked(command)[0] < 2
    after = content(project)
    for step in range(1, 100):
        restore(project, before)
        number = SIGNALS[step % len(SIGNALS)]
        code, said = forked(command, begin=stop_at(step, number, folder))
        if code >= 0 and code < 128:
            break
        assert code in (128 + number, -number), said
        left = content(project)
        temporary = {name for name in left if ".torchgen-lite" in name}
        assert number == signal.SIGKILL or not temporary, step
        known = [*before.items(), *after.items(), *[(name, b"") for name in added_to(command)]]
        assert [n for n in left.items() if n[0] not in temporary and n not in known] == []
    assert step > 1
    assert content(project) == after


def added_to(command: str) -> list[str]:
    """The file that a command adds to, where others write it anew."""
    return command.split()[-1:] if "--summary" in command else []


def restore(project: Path, before: dict[str, bytes]) -> None:
    for name in sorted(content(project).keys() - before.keys(), reverse=True):
        path = project / name
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in before.items():
        path = project / name
        if not path.is_dir() and (not path.exists() or path.read_bytes() != data):
            path.write_bytes(data)


@pytest.mark.parametrize("command", (*READS, *SAYS))
def test_a_command_that_reads_writes_nothing(project: Path, command: str) -> None:
    code, said = forked(command, begin=stop_at(1, signal.SIGKILL, project))
    assert code in (0, 1), said


@pytest.mark.parametrize("command", ALL)
def test_a_command_runs_beside_itself(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The result is that of a single run, and each run says whether it produced it."""
    in_place(command, monkeypatch, project)
    before = content(project)
    alone = forked(command)[0]
    after = content(project)
    for _ in range(5):
        restore(project, before)
        ends = several(command, 3)
        assert all(code in (0, 1, 2) for code in ends) and alone in ends
        assert content(project) == {
            **after,
            **{name: after[name] * 3 for name in added_to(command)},
        }


def several(command: str, count: int) -> list[int]:
    """Exit codes of runs that begin at the same time."""
    (ready, is_ready), (gate, opened) = os.pipe(), os.pipe()

    def begin() -> None:
        os.write(is_ready, b".")
        os.read(gate, 1)

    with ThreadPoolExecutor(count) as pool:
        runs = [pool.submit(forked, command, begin=begin) for _ in range(count)]
        for _ in runs:
            os.read(ready, 1)
        os.write(opened, b"." * count)
        ends = [run.result()[0] for run in runs]
    for end in (ready, is_ready, gate, opened):
        os.close(end)
    return ends


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


@pytest.mark.skipif(sys.platform != "linux", reason="root is root here")
@pytest.mark.parametrize("command", ALL)
def test_a_folder_that_is_read_only(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = in_place(command, monkeypatch, project)
    before = content(project)
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        code, said = forked(command, begin=become_mortal)
        assert is_refused(code, said), said
        assert content(project) == before
    finally:
        for path in folders:
            path.chmod(0o755)
