"""`explain CODE`: what a diagnostic code means, with a bad and a good example."""

from __future__ import annotations

import click

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.session import Refused, Session, command
from torchgen_lite.diagnostics import (
    Diagnostic,
    code_names,
    did_you_mean,
    explain,
    find_page,
    page_uri,
    read_code,
)


@command("explain")
@click.argument("code")
def explain_command(session: Session, code: str) -> int:
    """Explain a diagnostic code, with a bad and a good example.

    \b
    torchgen-lite explain TG103
    """
    name = code.upper()
    if find_page(name) is None:
        help_ = did_you_mean(name, code_names()) or "`torchgen-lite list codes` lists them"
        diagnostic = Diagnostic("TG012", f"unknown code `{code}`", help=help_)
        raise Refused(diagnostic)
    page = read_code(name)
    session.answer("explain", explain(page), codes=[{**page._asdict(), "page": page_uri(name)}])
    return FINE
