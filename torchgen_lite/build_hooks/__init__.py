"""Hooks for tools that build packages: generated code is up to date in what they build, or they say that it is not."""

from __future__ import annotations

import io
from pathlib import Path

MODES = {"check": "stops if generated code is out of date", "generate": "writes it"}


class BuildError(Exception):
    """What `torchgen-lite` said."""


def bring_up_to_date(project: Path, mode: str) -> None:
    """Check the generated code of a project, or write it. Raises BuildError."""
    from torchgen_lite.cli import main
    from torchgen_lite.loader.config import find_in_folder

    if mode not in MODES:
        modes = ", ".join(f'"{name}" {what}' for name, what in MODES.items())
        raise BuildError(f"`mode` of torchgen-lite is not {mode!r}: {modes}")
    configuration = find_in_folder(project, [])
    if configuration is None:
        raise BuildError(f"`{project}` has no configuration of torchgen-lite")
    said = io.StringIO()
    code = main([mode, "--quiet", "--config", str(configuration)], said, said)
    if code:
        raise BuildError(f"`torchgen-lite {mode}` exits with {code}:\n{said.getvalue()}")
