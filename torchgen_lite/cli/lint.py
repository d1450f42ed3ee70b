"""`lint`: diagnostics of the schema files, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.session import Session, global_options, schema_options, writing
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program

# A fix may uncover another mistake; what still changes after so many rounds is not getting better.
_MAX_ROUNDS = 10


@click.command("lint")
@projects_argument
@schema_options
@click.option("--torch", is_flag=True, help="The schema of the installed PyTorch.")
@click.option("--fix", is_flag=True, help="Write what the diagnostics suggest into the files.")
@global_options
@click.pass_obj
def lint_command(
    session: Session, projects: tuple[str, ...], schema: tuple[str, ...], torch: bool, fix: bool
) -> int:
    """Diagnostics of the schema files and of the Python functions that they name; nothing is rendered.

    \b
    torchgen-lite lint
    torchgen-lite lint --fix
    torchgen-lite lint --output-format sarif > lint.sarif
    """
    alone = [*(["--schema"] if schema else []), *(["--torch"] if torch else [])]
    if torch and fix:
        raise click.UsageError("`--fix` is for files of yours, and not for those of PyTorch.")
    return each_project(
        session, projects, alone, lambda project: _lint(project, schema, torch, fix)
    )


def _lint(session: Session, schema: tuple[str, ...], torch: bool, fix: bool) -> int:
    program, diagnostics = _find(session, schema, torch)
    fixed = 0
    for _ in range(_MAX_ROUNDS if fix else 0):
        done = _fix(program, diagnostics, schema)
        if not done:
            break
        fixed += done
        program, diagnostics = _find(session, schema, torch)
    session.report(diagnostics, kind="lint")
    if session.is_text:
        errors = sum(d.severity == "error" for d in diagnostics)
        warnings = len(diagnostics) - errors
        words = [counted(len(program.functions), "operator"), counted(errors, "error")]
        fixes = [f"{fixed} fixed"] if fix else []
        session.talk(", ".join([*words, counted(warnings, "warning"), *fixes]))
    return session.exit_code(diagnostics)


def _find(
    session: Session, schema: tuple[str, ...], torch: bool
) -> tuple[Program, Sequence[Diagnostic]]:
    from torchgen_lite.pipeline import lint_targets

    program = session.load(schema=schema or None, torch=torch, lint=True)
    return program, program.diagnostics if schema or torch else lint_targets(program)


def _fix(program: Program, diagnostics: Sequence[Diagnostic], schema: tuple[str, ...]) -> int:
    """Write what is suggested into the schema files and the configuration; the number of edits."""
    from torchgen_lite.diagnostics import apply_edits, pick_fixes
    from torchgen_lite.emit.write import replace_file
    from torchgen_lite.loader.sources import read_source

    config, done = program.config, 0
    own = [Path(path) for path in schema] or [config.root / path for path in config.schema]
    for path in dict.fromkeys([*own, *([config.path] if config.path else [])]):
        source, _ = read_source(path, config.root)
        edits = pick_fixes(diagnostics, source.path) if source is not None else ()
        # Of a file that begins with a byte order mark another text was read.
        if source is not None and edits and edits[0].span.source.text == source.text:
            with writing(path):
                replace_file(path, apply_edits(source.text, edits))
            done += len(edits)
    return done
