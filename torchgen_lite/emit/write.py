"""The write: all files or none, each one atomically, none that is unchanged.

Every new text is first written to a temporary file beside its destination. Only when all of them are on
disk are they moved into place, so a full disk or a missing permission leaves the tree as it was.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from torchgen_lite.emit.plan import Plan


class WriteError(Exception):
    """A file that cannot be written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write `{path}`: {reason}")
        self.path = path
        self.reason = reason


def write_plan(plan: Plan) -> None:
    """Carry the plan out. Raises WriteError, and leaves no temporary file behind."""
    staged: list[tuple[str, Path]] = []
    folders: list[Path] = []
    path = ""
    try:
        for change in plan.pending:
            path = change.path
            destination = plan.root / path
            if change.new is None:
                _check_deletable(destination)
                continue
            _make_folders(destination.parent, folders)
            staged.append((write_temporary(destination, change.new), destination))
        while staged:
            os.replace(*staged[-1])
            staged.pop()
        folders.clear()
        for change in plan.pending:
            path = change.path
            if change.new is None:
                _delete(plan.root, plan.root / path)
    except OSError as error:
        raise WriteError(path, (error.strerror or str(error)).lower()) from error
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                os.unlink(temporary)
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()


def write_temporary(destination: Path, text: str) -> str:
    """The text in a new file beside its destination, readable as other files are."""
    descriptor, name = tempfile.mkstemp(prefix=f".{destination.name}.", dir=destination.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode("utf-8"))
        os.chmod(name, _mode(destination))
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise
    return name


def _mode(destination: Path) -> int:
    """The mode of the file that is replaced, or what the umask gives a new one."""
    try:
        return destination.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _make_folders(folder: Path, created: list[Path]) -> None:
    """Create a folder and its parents, noting which of them are new."""
    if not folder.is_dir():
        _make_folders(folder.parent, created)
        folder.mkdir()
        created.append(folder)


def _check_deletable(path: Path) -> None:
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "permission denied", str(path))


def _delete(root: Path, path: Path) -> None:
    """Delete an orphan, and the folders that it leaves empty."""
    path.unlink()
    folder = path.parent
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
