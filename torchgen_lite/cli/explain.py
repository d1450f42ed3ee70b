"""`explain CODE`: what a diagnostic code means, with a bad and a good example."""

from __future__ import annotations

import click

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE
from torchgen_lite.cli.session import Session, global_options
from torchgen_lite.diagnostics import CODES, Diagnostic, did_you_mean, explain


@click.command("explain")
@click.argument("code")
@global_options
@click.pass_obj
def explain_command(session: Session, code: str) -> int:
    """Explain a diagnostic code, with a bad and a good example.

    \b
    torchgen-lite explain TG103
    """
    text = explain(code)
    if text is None and not code.upper().startswith("TG"):
        from torchgen_lite.targets import TARGETS

        # Targets of other packages add their codes when loaded.
        text = explain(code) if list(TARGETS.values()) else None
    if text is None:
        help_ = did_you_mean(code.upper(), CODES) or "`torchgen-lite list codes` lists them"
        found = Diagnostic("TG012", f"unknown code `{code}`", help=help_)
        session.report([found], kind="explain")
        return CANNOT_RUN
    session.answer("explain", text, codes=[CODES[code.upper()]._asdict()])
    return FINE
