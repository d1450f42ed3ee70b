"""One diagnostic code and what `explain` says about it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Code(NamedTuple):
    """A stable code. `explanation` says what and why; `bad` shows the mistake, `good` the correction.

    An example is a file of operators, on which `lint` is run, or a small project, whose files begin
    with `-- PATH --` and whose commands begin with `$ `. A test runs every example. `where` says
    what else the bad example needs; the test has to provide it.
    """

    code: str
    title: str
    severity: Severity
    explanation: str
    bad: str
    good: str
    where: str = ""
