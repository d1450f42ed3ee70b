"""Commands that change files of the project: stopped at any step, run concurrently, and where they may not write."""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.hostile.forked import become_mortal, forked, several, stop_at
from tests.hostile.test_streams import ALL, READS, SAYS, content, is_refused
from tests.hostile.test_streams import original as original
from tests.hostile.test_streams import project as project

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)


def in_place(command: str, monkeypatch: pytest.MonkeyPatch, project: Path) -> Path:
    """Where the command runs: `init` wants a folder without a project."""
    folder = project / "empty" if command.startswith("init") else project
    monkeypatch.chdir(folder)
    return folder


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
        code, said = forked(command, begin=partial(stop_at, step, number, folder))
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
    code, said = forked(command, begin=partial(stop_at, 1, signal.SIGKILL, project))
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
