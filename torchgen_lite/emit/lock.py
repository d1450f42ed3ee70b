"""Only one run at a time writes into an output folder.

Note [The lock of an output folder]
On POSIX the folder itself is locked (`flock` on its descriptor), so there is no lock file to be
checked in, left behind or mistaken for an output. Windows cannot lock a folder, so a file in it is
locked, which the last run deletes. The kernel releases either lock when its holder dies. Where no
lock is available (a read-only folder, some network file systems) the run goes on without one, and
removes nothing that might belong to another run.

Note [Files in use]
A temporary file is written beside the file that it replaces, in any folder, where two runs may
write at once. So on POSIX it is itself locked while its writer lives, and a process that can lock
it may delete it. Windows cannot replace an open file, so leftover files stay there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TRIES = 100


@contextmanager
def locked_folder(folder: Path, on_wait: Callable[[], None]) -> Iterator[bool]:
    """Hold the lock of `folder`, creating the folder if needed; yields whether there is a lock.

    `on_wait` is called once before waiting, if another run holds the lock. A folder created here is
    removed if it is empty at the end.
    """
    created: list[Path] = []
    descriptor = None
    try:
        descriptor = _lock(folder, created, on_wait)
        yield descriptor is not None
    finally:
        remove_empty(created)
        if descriptor is not None:
            _release(descriptor, folder)


def make_folders(folder: Path, created: list[Path]) -> None:
    """Create a folder and its parents, recording the new ones in `created`."""
    if not folder.is_dir():
        make_folders(folder.parent, created)
        # Recorded before it exists, so that an interruption in between leaves nothing unrecorded.
        created.append(folder)
        folder.mkdir(exist_ok=True)


def remove_empty(created: list[Path]) -> None:
    """Remove the folders that `make_folders` has created, but for those with files in them."""
    for folder in reversed(created):
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def file_in_use(folder: Path, prefix: str) -> Iterator[Path]:
    """A new, empty file, which `remove_unused` leaves alone until the end. Raises OSError."""
    path = folder / f"{prefix}{os.urandom(6).hex()}"
    descriptor = None
    try:
        descriptor = _claim(path)
        yield path
    finally:
        with suppress(OSError):
            path.unlink()
        if descriptor is not None:
            os.close(descriptor)


def _lock(
    folder: Path,
    created: list[Path],
    on_wait: Callable[[], None],
) -> int | None:
    for _ in range(_TRIES):
        try:
            make_folders(folder, created)
            descriptor = _acquire(folder, on_wait)
        except FileNotFoundError:
            continue  # Another run has removed the folder that it had created.
        except OSError:
            return None  # If the folder is not writable, the write reports that and names the file.
        if _is_still_there(descriptor, folder):
            return descriptor
        os.close(descriptor)
    return None


if sys.platform == "win32":
    import msvcrt
    import time

    _NAME = ".torchgen-lite.lock"

    def _acquire(folder: Path, on_wait: Callable[[], None]) -> int:
        descriptor = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT)
        waited = False
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                return descriptor
            except PermissionError:
                if not waited:
                    on_wait()
                waited = True
                time.sleep(0.05)
            except BaseException:
                os.close(descriptor)
                raise

    def _is_still_there(descriptor: int, folder: Path) -> bool:
        return True  # A file that is open cannot be deleted.

    def _claim(path: Path) -> int | None:
        path.touch(exist_ok=False)
        return None

    def remove_unused(path: Path) -> None:
        """Do nothing: no lock tells whether a file is in use."""

    def _release(descriptor: int, folder: Path) -> None:
        os.close(descriptor)
        with suppress(OSError):
            (folder / _NAME).unlink()

else:
    import fcntl

    def _acquire(folder: Path, on_wait: Callable[[], None]) -> int:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_wait()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _is_still_there(descriptor: int, folder: Path) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), folder.stat())
        return False

    def _release(descriptor: int, folder: Path) -> None:
        os.close(descriptor)

    def _claim(path: Path) -> int | None:
        while True:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with suppress(OSError):  # Some file systems have no locks.
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_still_there(descriptor, path):
                return descriptor
            os.close(descriptor)  # Another run deleted it before it was locked.

    def remove_unused(path: Path) -> None:
        """Delete a file whose writer is gone; see Note [Files in use]."""
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)
