"""The formulas of PyTorch's operators, which stand in a file of their own: `derivatives.yaml`."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.against.version import Version, read_alone
from torchgen_lite.loader.releases import INSTALLED, read_release


def with_gradients(old: Version, new: Program) -> tuple[Version, Program, str]:
    """Two releases with their formulas; or as they are, and why gradients are not compared."""
    before, after = (read_release(name, Path.cwd()).formulas for name in (old.name, INSTALLED))
    if before is None or after is None:
        return old, new, f"gradients are not compared: `{old.name}` comes without derivatives.yaml"
    sides = (old.program, before), (new, after)
    was, now = (read_alone(new, [*side.sources, formulas]) for side, formulas in sides)
    if was.has_errors or now.has_errors:
        return old, new, "gradients are not compared: derivatives.yaml has errors"
    return old._replace(program=was), now, ""
