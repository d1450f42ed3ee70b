"""The code that two versions of a project generate, compared without looking at the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.cli.against.version import Version
from torchgen_lite.emit.plan import Action, Change
from torchgen_lite.pipeline import Generated, generate_all


def generate_old(old: Version, targets: Sequence[str] = ()) -> Generated:
    """What the other version generates. Raises Refused if that has errors."""
    generated = generate_all(old.program, targets=targets)
    old.require(generated.diagnostics)
    return generated


def changed_files(old: Generated, new: Generated) -> Iterator[Change]:
    """The files that differ, sorted by path."""
    for path in sorted({*old.files, *new.files}):
        was, now = old.files.get(path), new.files.get(path)
        if was != now:
            action: Action = "create" if was is None else "delete" if now is None else "update"
            yield Change(path, action, was, now)
