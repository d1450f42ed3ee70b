"""Several projects in one run: `torchgen-lite check examples/a examples/b`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.session import Session
from torchgen_lite.cli.settings import split_options
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.config import find_in_folder

projects_argument = click.argument("projects", nargs=-1, metavar="[PROJECT]...")


def each_project(
    session: Session, named: Sequence[str], alone: Sequence[str], run: Callable[[Session], int]
) -> int:
    """Run a command in each project that the command line names, and give the worst exit code.

    Projects are folders or configuration files, as arguments or behind `--config`; without any it is the one that
    governs this folder. `alone` are options given that are about a single project.
    """
    files, settings = split_options(session.config)
    paths: list[Path] = []
    found: list[Diagnostic] = []
    for name in (*files, *named):
        path = find_in_folder(Path(name), found) if Path(name).is_dir() else Path(name)
        if not Path(name).exists():
            found.append(Diagnostic("TG001", f"there is no `{name}`"))
        elif path is None:
            help_ = "a project is a folder with `torchgen_lite.toml`, or with a table in its `pyproject.toml`"
            found.append(Diagnostic("TG001", f"`{name}` has no configuration", help=help_))
        elif path.resolve() not in paths:
            paths.append(path.resolve())
    if found:
        session.report(found)
        return CANNOT_RUN
    if len(paths) > 1 and alone:
        raise click.UsageError(f"`{alone[0]}` is about one project, and {len(paths)} are named.")
    if not paths:
        return run(session)
    code = FINE
    for path in paths:
        if len(paths) > 1 and session.is_text:
            session.talk(f"{shown_folder(path.parent, Path.cwd()) or '.'}:")
        code = max(code, run(replace(session, config=(str(path), *settings))))
    return code
