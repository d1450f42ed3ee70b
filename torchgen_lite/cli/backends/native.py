"""What `coverage` and `upgrade` read: the author's files, with the operators of a PyTorch as context."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from torchgen_lite.analysis.native import TORCH
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.session import Session

_Command = TypeVar("_Command", bound=Callable[..., Any])

schema_option = click.option(
    "--schema", multiple=True, metavar="PATH", help="Schema file, instead of the configured."
)


def native_options(command: _Command) -> _Command:
    """The options that name the author's files and PyTorch's."""
    native = click.option(
        "--native",
        default="",
        metavar="PATH",
        help="PyTorch's native_functions.yaml (default: as configured, else the installed one).",
    )
    return schema_option(native(command))


def load_with_native(
    session: Session, schema: Sequence[str], native: str, *, alone: bool = False
) -> Program:
    """The program with its context. `alone`: the context is all that is wanted, and no schema file is read."""
    settings, _ = session.settings()
    wanted = str(Path.cwd() / native) if native else settings.native or TORCH
    session.config = (*session.config, f"native = {json.dumps(wanted)}")
    return session.load(schema=() if alone else schema or None)
