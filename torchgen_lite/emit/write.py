"""The write: all files or none, each one atomically, none that is unchanged.

Every new text is first written to a temporary file beside its destination. Only when all of them are on
disk are they moved into place, so a full disk or a missing permission leaves the tree as it was.

Note [Temporary files]
They are recorded before they are created, so an interrupted run (even by a signal) removes them.
Those of a killed run are recognized by their names, and the next run that writes there removes
them: `generate` below its output folder, and commands that replace a single file (`fmt`,
`--depfile`) in its folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from torchgen_lite.emit.lock import file_in_use, make_folders, remove_empty, remove_unused
from torchgen_lite.emit.plan import TEMPORARY, Plan
from torchgen_lite.loader.sources import reason_of

SINGLE = f"{TEMPORARY}one-"
"""The prefix of temporary files that replace a file named by the user; see Note [Files in use]."""


class WriteError(Exception):
    """A file that cannot be written; `is_begun`: other files have already been changed."""

    def __init__(
        self,
        path: str,
        reason: str,
        is_begun: bool,
    ) -> None:
        super().__init__(f"cannot write `{path}`: {reason}")
        self.path = path
        self.reason = reason
        self.is_begun = is_begun


def write_plan(plan: Plan) -> None:
    """Carry the plan out. Raises WriteError, and leaves no temporary file behind."""
    staged: list[tuple[Path, Path]] = []
    folders: list[Path] = []
    destination = plan.root
    is_begun = False
    try:
        for change in plan.pending:
            destination = plan.root / change.path
            if change.new is None:
                if not os.access(destination.parent, os.W_OK):
                    raise PermissionError(errno.EACCES, "permission denied", str(destination))
                continue
            make_folders(destination.parent, folders)
            temporary = destination.parent / f"{TEMPORARY}{os.urandom(6).hex()}"
            staged.append((temporary, destination))
            _write(*staged[-1], change.new)
        while staged:
            temporary, destination = staged[-1]
            os.replace(temporary, destination)
            is_begun = True
            staged.pop()
        for change in plan.pending:
            if change.new is None:
                destination = plan.root / change.path
                _delete(plan.root, destination)
                is_begun = True
    except OSError as error:
        path = destination.relative_to(plan.root).as_posix()
        raise WriteError(path, reason_of(error), is_begun) from error
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink()
        remove_empty(folders)


def remove_leftovers(plan: Plan) -> None:
    """Delete the temporary files of killed runs; the caller must hold the folder's lock."""
    for path in plan.leftovers:
        if path.name.startswith(SINGLE):
            remove_unused(path)
            continue
        with suppress(OSError):
            path.unlink()


def check_file(destination: Path) -> None:
    """Raise OSError if there can be no file, as far as is known before it is written."""
    if not destination.parent.is_dir():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(destination))
    if destination.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(destination))


def replace_file(destination: Path, content: str | bytes) -> None:
    """Write one file named by the user: whole, or not at all. Raises OSError."""
    replace_files({destination: content})


def replace_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files named by the user: each one whole, and none unless all can be. Raises OSError about one of them."""
    destination = Path()
    staged: list[tuple[Path, Path]] = []
    try:
        with ExitStack() as in_use:
            for destination, content in contents.items():
                check_file(destination)
                if destination.exists() and not destination.is_file():
                    raise OSError(errno.EINVAL, "not a regular file", str(destination))
                for path in destination.parent.glob(f"{SINGLE}*"):
                    remove_unused(path)
                temporary = in_use.enter_context(file_in_use(destination.parent, SINGLE))
                staged.append((temporary, destination))
                _write(temporary, destination, content)
            for temporary, destination in staged:
                os.replace(temporary, destination)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(destination)) from None


def add_to_file(destination: Path, text: str) -> None:
    """Append to a file named by the user: the whole text, or nothing. Raises OSError."""
    # A pipe without a reader is refused instead of blocking.
    is_new = not destination.exists()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(destination, flags, 0o666)
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "ab", buffering=0) as stream:
        size = os.fstat(descriptor).st_size
        rest = text.encode("utf-8", "backslashreplace")
        try:
            while rest:
                rest = rest[stream.write(rest) :]
        except BaseException:
            with suppress(OSError):
                stream.truncate(size)
                if is_new and not size:
                    destination.unlink()
            raise


def _write(
    temporary: Path,
    destination: Path,
    content: str | bytes,
) -> None:
    """Write a text, or bytes, to a new file, with the permissions of the file that it replaces."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    temporary.write_bytes(content)
    # There may be no such file, and not every file system has permissions.
    with suppress(OSError):
        temporary.chmod(destination.stat().st_mode & 0o777)


def _delete(root: Path, path: Path) -> None:
    """Delete an orphan, and the folders that it leaves empty."""
    path.unlink(missing_ok=True)
    folder = path.parent
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
