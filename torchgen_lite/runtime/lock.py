"""The lock of registrations, and the work that finalizers defer to it.

Note [Finalizers wait]
The garbage collector can run finalizers at any point, including in the middle of a registration or while a call is
resolved. The finalizer of a library must not change what is being read there. So a finalizer never waits for this lock
and never runs inside it: it leaves its work to whoever releases the lock.

There is one lock for all dispatchers, because registrations are rare and calls take it only on a memo miss.
A fork waits for it, so that a child never finds a registration half done.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

_lock = threading.RLock()
_condition = threading.Condition(_lock)
_left: deque[Callable[[], object]] = deque()

acquire = _lock.acquire


def release() -> None:
    """Release the lock; the outermost release does the work that finalizers have left."""
    _lock.release()
    if _left:
        _finish()


class RegistrationLock:
    """`with lock:`. Code that runs tens of thousands of times in an import calls `acquire` and `release`."""

    __slots__ = ()

    def __enter__(self) -> None:
        acquire()

    def __exit__(self, *error: object) -> None:
        release()


lock = RegistrationLock()


def do_when_free(work: Callable[[], object]) -> None:
    """Do something now if nobody holds the lock, otherwise when it is released. Exceptions are only reported."""
    _left.append(work)
    _finish()


class _Finalizer:
    """Work whose exceptions are reported like those of a finalizer, by running it in one."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    def __del__(self) -> None:
        self.work()


def _is_held() -> bool:
    """Whether this thread holds the lock: a condition refuses any other that notifies."""
    try:
        _condition.notify(0)
    except RuntimeError:
        return False
    return True


def _finish() -> None:
    # A release between the `append` and this check finds the work itself.
    while _left and not _is_held() and acquire(blocking=False):
        try:
            if _left:
                _Finalizer(_left.popleft())
        finally:
            _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)
