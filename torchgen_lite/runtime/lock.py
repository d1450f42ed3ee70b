"""The lock of registrations, and what finalizers leave to it.

Note [Finalizers wait]
The garbage collector runs finalizers in the middle of anything, also of a registration or of resolving a
call. A library that it finds there must not change what is being read. So a finalizer never waits for this
lock and never goes on inside it: it leaves its work, and whoever releases the lock does it then.

There is one lock for all dispatchers, because registrations are rare and calls take it only on a memo miss.
A fork waits for it, so that a child never finds a registration half done.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

_lock = threading.RLock()
_left: deque[Callable[[], object]] = deque()

acquire = _lock.acquire


def release() -> None:
    """Release the lock; the outermost release does what finalizers have left meanwhile."""
    _lock.release()
    if _left:
        _finish()


class RegistrationLock:
    """`with lock:`. What is called tens of thousands of times in an import calls `acquire` and `release`."""

    __slots__ = ()

    def __enter__(self) -> None:
        acquire()

    def __exit__(self, *error: object) -> None:
        release()


lock = RegistrationLock()


def do_when_free(work: Callable[[], object]) -> None:
    """Do something at once if nobody holds the lock, else when it is released. What it raises is reported only."""
    _left.append(work)
    _finish()


class _Finalizer:
    """Work whose exceptions are reported as those of finalizers are: it is done in one."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    def __del__(self) -> None:
        self.work()


def _finish() -> None:
    # A release that comes between an `append` and the check here finds the work itself.
    while _left and not _lock._is_owned() and acquire(blocking=False):  # type: ignore[attr-defined]
        try:
            if _left:
                _Finalizer(_left.popleft())
        finally:
            _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)
