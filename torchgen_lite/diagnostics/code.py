"""One diagnostic code and what `explain` says about it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Code(NamedTuple):
    """A stable code. `explanation` says what and why; `bad` shows it, `good` shows it mended."""

    code: str
    title: str
    severity: Severity
    explanation: str
    bad: str = ""
    good: str = ""
