"""Several projects in one run: `torchgen-lite check examples/a examples/b`, or the members of a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.session import Refused, Session
from torchgen_lite.cli.settings import split_options
from torchgen_lite.diagnostics import Diagnostic, has_errors
from torchgen_lite.loader.config.project import (
    Config,
    find_config,
    find_in_folder,
    load_config,
    locate_value,
)
from torchgen_lite.schema.grouped import without_none

projects_argument = click.argument("projects", nargs=-1, metavar="[PROJECT]...")
_NO_PROJECT = (
    "a project is a folder with `torchgen_lite.toml`, or with a table in its `pyproject.toml`"
)


def each_project(
    session: Session,
    named: Sequence[str],
    alone: Sequence[str],
    run: Callable[[Session], int],
) -> int:
    """Run a command in each project that the command line names, and return the worst exit code.

    Projects are folders or configuration files, given as arguments or with `--config`; the default
    is the project of this folder. A workspace stands for its members. `alone` lists given options
    that apply to a single project only.
    """
    files, settings = split_options(session.config)
    problems: list[Diagnostic] = []
    paths: list[Path] = []
    for name in (*files, *named):
        paths += _members(_named(name, problems), problems)
    if not files and not named and not alone:
        governing = find_config(Path.cwd(), [])
        members = list(_members(governing, problems))
        paths = members if members != [governing] else []
    if problems:
        session.report(problems)
        return CANNOT_RUN
    paths = list(dict.fromkeys(map(Path.resolve, paths)))
    if len(paths) > 1 and alone:
        raise click.UsageError(f"`{alone[0]}` applies to one project, but {len(paths)} are named.")
    if not paths:
        return run(session)
    code = FINE
    for path in paths:
        if len(paths) > 1 and session.is_text:
            session.talk(f"{shown_folder(path.parent, Path.cwd()) or '.'}:")
        code = max(code, _run_in_one(replace(session, config=(str(path), *settings)), run))
    return code


def _run_in_one(session: Session, run: Callable[[Session], int]) -> int:
    """The exit code in one of several projects: what it refuses, with its paths, stops none of the others."""
    try:
        return run(session)
    except Refused as refused:
        session.report(refused.diagnostics, kind=refused.command)
        return session.exit_code(refused.diagnostics)


def projects_and_files(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which of the arguments `[PROJECT|FILE]...` are folders and configurations, and which are schema files."""
    projects = [path for path in paths if os.path.isdir(path) or path.endswith(".toml")]
    return projects, [path for path in paths if path not in projects]


def schema_files(config: Config, given: Sequence[str]) -> list[Path]:
    """The schema files that the command line names, or else those of the project."""
    return list(map(Path, given)) or [config.root / path for path in config.schema]


def _named(name: str, problems: list[Diagnostic]) -> Path | None:
    """The configuration of a project that the command line names."""
    path = find_in_folder(Path(name), problems) if os.path.isdir(name) else Path(name)
    if not os.path.exists(name):
        problems.append(Diagnostic("TG001", f"there is no `{name}`"))
    elif path and path.suffix in (".yaml", ".yml"):
        message = f"`{name}` is a schema file, and no project"
        problems.append(
            Diagnostic("TG001", message, help=f"leave it out, or write `--schema {name}`")
        )
    elif path is None:
        problems.append(Diagnostic("TG001", f"`{name}` has no configuration", help=_NO_PROJECT))
    return path


def _members(
    path: Path | None, problems: list[Diagnostic], within: Sequence[Path] = ()
) -> Iterator[Path]:
    """The configurations of a workspace's members in order, or just the given one if it has none.

    `within` holds the enclosing workspaces, since a workspace may list one of them, or itself.
    """
    if path is None:
        return
    config, diagnostics = load_config(path.parent, path)
    if not config.members or has_errors(diagnostics):
        # Its mistakes are reported when it runs.
        yield path
        return
    for pattern in config.members:
        if "*" in pattern:
            folders = sorted(path.parent.glob(pattern))
        else:
            folders = [path.parent / pattern]
        files = without_none(find_in_folder(folder, problems) for folder in folders)
        if not files:
            place = locate_value(config, "workspace", "members", pattern)
            message = f"`{pattern}` has no configuration"
            problems.append(Diagnostic("TG001", message, place, help=_NO_PROJECT))
        for file in files:
            if file.samefile(path):
                yield path
            elif not any(map(file.samefile, within)):
                yield from _members(file, problems, (*within, path))
