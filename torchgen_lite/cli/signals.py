"""Signals that ask a run to stop. It removes its temporary files, and exits with 128 and the signal's number."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn


class Stopped(BaseException):
    """A signal came. It is not an `Exception`, so that nothing on the way takes it for the user's mistake."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


def stop_on_signals() -> None:
    """Raise Stopped on SIGINT, SIGTERM and SIGHUP; those that are ignored (`nohup`) stay ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def raise_again() -> NoReturn:
    """Raise Stopped for a signal whose exception got lost: watchfiles waits in Rust, and takes it for the end."""
    if not _received:
        raise KeyboardInterrupt
    raise Stopped(_received[-1])


_received: list[int] = []


def _stop(number: int, frame: FrameType | None) -> None:
    # A second one ends the process at once, should cleaning up take too long.
    signal.signal(number, signal.SIG_DFL)
    _received.append(number)
    raise Stopped(number)
