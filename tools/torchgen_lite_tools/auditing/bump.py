"""Which part of a version has to change, by what `breaking` finds since another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.analysis.comparison.compare import added_operators, changed_compatibly
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.against.version import other_version
from torchgen_lite.cli.breaking import judged_changes
from torchgen_lite.cli.session import Session, require
from torchgen_lite.cli.tables.registrations import pytorchs_of_both
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.targets.registered import lent_operators


class Bump(NamedTuple):
    """`part` is `major`, `minor` or `patch`, as in semantic versioning; `changes` are those that no other command lists."""

    part: str
    because: str
    changes: tuple[str, ...] = ()


def bump_since(session: Session, program: Program, since: str, schema: Sequence[str]) -> Bump:
    """What callers lose makes a version major; what they get, or may notice, minor. Raises Refused."""
    with other_version(session, since, program, schema) as old:
        beneath = pytorchs_of_both(session, old.program, program)
        judged = judged_changes(old, program, "source", beneath)
        lent = lent_operators(old.program, program, beneath)
        before = (*old.program.resolved.operators, *lent)
        after = program.resolved.operators
        added = added_operators(before, after)
        compatible = changed_compatibly(
            before, after, {change.operator for change in judged.changes}
        )
    require([finding for finding in judged.found if not finding.effect])
    breaks = [change for change in judged.changes if change.effect != "may change"]
    if breaks:
        return Bump("major", f"{counted(len(breaks), 'breaking change')} since {since}")
    if judged.changes:
        return Bump(
            "minor", f"{counted(len(judged.changes), 'change')} that may matter since {since}"
        )
    if added or compatible:
        new = counted(len(added), "new operator")
        return Bump(
            "minor", f"{new} and {counted(len(compatible), 'compatible change')} since {since}"
        )
    return Bump("patch", f"no change that callers notice since {since}")
