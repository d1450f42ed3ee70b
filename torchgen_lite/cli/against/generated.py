"""The code that two versions of a project generate, compared without looking at the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchgen_lite.cli.against.base import has_its_errors
from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.emit.plan import Action, Change
from torchgen_lite.pipeline import Generated, generate_all

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program


def generate_old(against: str, program: Program, targets: Sequence[str] = ()) -> Generated:
    """What the other side generates; raises Refused where that has errors."""
    generated = generate_all(program, targets=targets)
    if has_errors(generated.diagnostics):
        raise Refused(*generated.diagnostics, has_its_errors(against))
    return generated


def changed_files(old: Generated, new: Generated) -> Iterator[Change]:
    """The files that differ, sorted by path."""
    for path in sorted({*old.files, *new.files}):
        was, now = old.files.get(path), new.files.get(path)
        if was != now:
            action: Action = "create" if was is None else "delete" if now is None else "update"
            yield Change(path, action, was, now)
