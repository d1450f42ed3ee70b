"""Hooks for build back ends, which prevent builds with generated code that is out of date."""

from __future__ import annotations

import io
from pathlib import Path

MODES = {"check": "stops the build if generated code is out of date", "generate": "writes it"}


class BuildError(Exception):
    """Raised with the output of `torchgen-lite`."""


def bring_up_to_date(project: Path, mode: str) -> None:
    """Check the generated code of a project, or write it. Raises BuildError."""
    from torchgen_lite.cli import main

    if mode not in MODES:
        modes = ", ".join(f'"{name}" {what}' for name, what in MODES.items())
        raise BuildError(f"invalid `mode` {mode!r} of torchgen-lite: {modes}")
    output = io.StringIO()
    code = main([mode, "--quiet", "--", str(project)], output, output)
    if code:
        raise BuildError(f"`torchgen-lite {mode}` exits with {code}:\n{output.getvalue()}")
