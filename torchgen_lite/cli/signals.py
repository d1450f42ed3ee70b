"""Signals that stop a run: it removes its temporary files and exits with 128 + signal number."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn


class Stopped(BaseException):
    """A signal arrived. Not an `Exception`, so that no handler mistakes it for a user's mistake."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


def stop_on_signals() -> None:
    """Raise Stopped on SIGINT, SIGTERM and SIGHUP; ignored ones (`nohup`) stay ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def raise_again() -> NoReturn:
    """Raise Stopped again if watchfiles, which waits in Rust, swallowed it and just returned."""
    if not _received:
        raise KeyboardInterrupt
    raise Stopped(_received[-1])


_received: list[int] = []


def _stop(number: int, frame: FrameType | None) -> None:
    # A second signal ends the process at once, in case cleanup takes too long.
    signal.signal(number, signal.SIG_DFL)
    _received.append(number)
    raise Stopped(number)
