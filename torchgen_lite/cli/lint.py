"""`lint`: diagnostics of the schema files, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.projects import each_project, projects_and_files, schema_files
from torchgen_lite.cli.session import Session, command, schema_options, torch_option, write_contents
from torchgen_lite.diagnostics import Diagnostic, Edit, apply_edits, errors_among, pick_edits
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.sources import read_source

# A fix may uncover another mistake; after this many rounds more fixes won't help.
_MAX_ROUNDS = 10


@command("lint")
@click.argument("paths", nargs=-1, metavar="[PROJECT|FILE]...")
@schema_options
@torch_option
@click.option("--fix", is_flag=True, help="Apply the suggestions of diagnostics that are safe.")
@click.option("--unsafe-fixes", is_flag=True, help="With `--fix`: also apply guesses.")
def lint_command(
    session: Session,
    paths: Sequence[str],
    schema: Sequence[str],
    torch: bool,
    fix: bool,
    unsafe_fixes: bool,
) -> int:
    """Report mistakes in the schema files of projects, or in the given files, and in the Python
    functions that they name. Nothing is written. A FILE is a schema file, as with `--schema`.

    \b
    torchgen-lite lint
    torchgen-lite lint native_functions.yaml
    torchgen-lite lint --fix
    torchgen-lite lint --fix --unsafe-fixes
    torchgen-lite lint --output-format sarif > lint.sarif
    """
    projects, files = projects_and_files(paths)
    if files and (projects or torch):
        other = "`--torch`" if torch else "projects"
        raise click.UsageError(f"Schema files and {other} exclude each other.")
    alone = ["--schema"] if schema else []
    alone += ["--torch"] if torch else files[:1]
    if torch and fix:
        raise click.UsageError("`--fix` changes your own files, not those of PyTorch.")
    if unsafe_fixes and not fix:
        raise click.UsageError("`--unsafe-fixes` needs `--fix`.")
    chosen = ""
    if fix:
        chosen = "fix" if unsafe_fixes else "safe_fix"
    run = partial(_lint, schema=(*schema, *files), torch=torch, chosen=chosen)
    return each_project(session, projects, alone, run)


def _lint(
    session: Session,
    schema: Sequence[str],
    torch: bool,
    chosen: str,
) -> int:
    """Report; first write the fixes under the `chosen` attribute of diagnostics, if one is."""
    program, diagnostics = _find(session, schema, torch)
    fixed = 0
    rounds = _MAX_ROUNDS if chosen else 0
    for _ in range(rounds):
        done = _fix(program, [getattr(diagnostic, chosen) for diagnostic in diagnostics], schema)
        if not done:
            break
        fixed += done
        program, diagnostics = _find(session, schema, torch)
    session.report(diagnostics, kind="lint")
    if session.is_text:
        errors = len(errors_among(diagnostics))
        warnings = len(diagnostics) - errors
        words = [counted(len(program.functions), "operator"), counted(errors, "error")]
        fixes = [f"{fixed} fixed"] if chosen else []
        session.talk(", ".join([*words, counted(warnings, "warning"), *fixes]))
        unsafe = sum(d.fix is not None for d in diagnostics) if chosen == "safe_fix" else 0
        if unsafe:
            session.talk(f"`--unsafe-fixes` writes {counted(unsafe, 'more suggestion')}")
    return session.exit_code(diagnostics)


def _find(
    session: Session, schema: Sequence[str], torch: bool
) -> tuple[Program, Sequence[Diagnostic]]:
    from torchgen_lite.pipeline import lint, lint_targets  # `lint --help` needs no target.

    program = lint(session.load(schema, torch=torch))
    return program, lint_targets(program)


def _fix(program: Program, fixes: Sequence[Edit | None], schema: Sequence[str]) -> int:
    """Write fixes into the schema files and the configuration; the number of edits."""
    config = program.config
    done = 0
    contents = {}
    paths = schema_files(config, schema)
    if config.path:
        paths.append(config.path)
    for path in dict.fromkeys(paths):
        source, _ = read_source(path, config.root)
        edits = pick_edits(fixes, source.path) if source is not None else ()
        # With a byte order mark the analyzed text differs from the file's.
        if source is not None and edits and edits[0].span.source.text == source.text:
            contents[path] = apply_edits(source.text, edits)
            done += len(edits)
    write_contents(contents)
    return done
