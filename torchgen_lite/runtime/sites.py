"""The line that a registration was made from.

Note [Long modules]
`frame.f_lineno` decodes the line table of its code from the beginning. In a generated module that registers
thousands of kernels, one a line, that is quadratic: seconds for 30,000 registrations. Registrations come in the
order of the lines, so for long code one cursor is kept that decodes each entry once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import CodeType, FrameType

LONG = 2000
"""Bytes of a line table: decoding a shorter one from the beginning costs less than a microsecond."""


class _Cursor:
    """A place in the line table of one code object."""

    __slots__ = ("code", "end", "line", "lines", "lock", "start")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.code: CodeType | None = None
        self.lines: Iterator[tuple[int, int, int | None]] = iter(())
        self.start = self.end = self.line = 0

    def move_to(self, code: CodeType, offset: int) -> int:
        """The line of an instruction."""
        if code is not self.code or offset < self.start:
            self.code = code
            self.lines = code.co_lines()
            self.start = self.end = 0
            self.line = code.co_firstlineno
        while offset >= self.end:
            self.start, self.end, line = next(self.lines, (offset, offset + 1, None))
            if line is not None:
                self.line = line
        return self.line


_cursor = _Cursor()


def line_of(frame: FrameType) -> int:
    """`frame.f_lineno`, fast in long modules too."""
    code = frame.f_code
    if len(code.co_linetable) < LONG:
        return frame.f_lineno
    with _cursor.lock:
        return _cursor.move_to(code, frame.f_lasti)
