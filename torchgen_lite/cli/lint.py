"""`lint`: diagnostics of the schema files, nothing else."""

from __future__ import annotations

import click

from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.session import Session, global_options
from torchgen_lite.diagnostics.text import counted


@click.command("lint")
@projects_argument
@click.option(
    "--schema", multiple=True, metavar="PATH", help="Schema file, instead of the configured."
)
@click.option("--torch", is_flag=True, help="The schema of the installed PyTorch.")
@global_options
@click.pass_obj
def lint_command(
    session: Session, projects: tuple[str, ...], schema: tuple[str, ...], torch: bool
) -> int:
    """Diagnostics of the schema files and of the Python functions that they name; nothing is rendered.

    \b
    torchgen-lite lint
    torchgen-lite lint --output-format sarif > lint.sarif
    """
    alone = [*(["--schema"] if schema else []), *(["--torch"] if torch else [])]
    return each_project(session, projects, alone, lambda project: _lint(project, schema, torch))


def _lint(session: Session, schema: tuple[str, ...], torch: bool) -> int:
    from torchgen_lite.pipeline import lint_targets

    program = session.load(schema=schema or None, torch=torch, lint=True)
    diagnostics = program.diagnostics if schema or torch else lint_targets(program)
    session.report(diagnostics, kind="lint")
    if session.is_text:
        errors = sum(d.severity == "error" for d in diagnostics)
        warnings = len(diagnostics) - errors
        words = [counted(len(program.functions), "operator"), counted(errors, "error")]
        session.talk(", ".join([*words, counted(warnings, "warning")]))
    return session.exit_code(diagnostics)
