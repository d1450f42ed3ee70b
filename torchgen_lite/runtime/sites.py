"""The places where registrations are made.

Note [Lines are found when asked for]
A package registers thousands of kernels when it is imported, and hardly any of their line numbers are ever printed.
`frame.f_lineno` decodes the line table of its code from the beginning, which is quadratic in a long module. So
a registration keeps the code that made it and the offset of the instruction, or the caller's note in place of
the code, and the line is found when a message or a table asks for it.
"""

from __future__ import annotations

from bisect import bisect_right
from types import CodeType, FrameType
from typing import Union

Place = Union[CodeType, str]

DECODED_LIMIT = 64

# By identity: hashing code hashes everything in it.
_decoded: dict[int, tuple[CodeType, list[int], list[int]]] = {}


def place(frame: FrameType, debug: str | None) -> tuple[Place, int]:
    """Where a registration is made, or the caller's note in its place."""
    return (frame.f_code, frame.f_lasti) if debug is None else (debug, 0)


def site(where: Place, offset: int) -> str:
    """A place of registration in c10's words; a note of the caller is returned as it is."""
    if isinstance(where, str):
        return where
    return f"registered at {where.co_filename}:{line_at(where, offset)}"


def line_at(code: CodeType, offset: int) -> int:
    """The line of an instruction; for the first one the line of the function, which older Pythons place in the
    body."""
    if offset == 0:
        return code.co_firstlineno
    known = _decoded.get(id(code))
    if known is None:
        if len(_decoded) >= DECODED_LIMIT:
            _decoded.clear()
        table = [(start, line) for start, _, line in code.co_lines() if line is not None]
        known = (code, [start for start, _ in table], [line for _, line in table])
        _decoded[id(code)] = known
    _, starts, lines = known
    return lines[bisect_right(starts, offset) - 1] if lines else code.co_firstlineno
