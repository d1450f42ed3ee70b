"""`fmt`: the canonical form of the schema files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.places import patch_folder, shown_folder
from torchgen_lite.cli.projects import each_project, projects_and_files
from torchgen_lite.cli.session import Session, command, write_contents
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.diff import first_difference, render_diff
from torchgen_lite.emit.plan import Change
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.sources import read_source
from torchgen_lite.pipeline import each_after_others, entry_reader


@command("fmt")
@click.argument("paths", nargs=-1, metavar="[PROJECT|FILE]...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not formatted.")
@click.option("--diff", is_flag=True, help="Write nothing; print a patch.")
def fmt_command(
    session: Session,
    paths: Sequence[str],
    check: bool,
    diff: bool,
) -> int:
    """Format the schema files of projects, or the given files: order of fields, indentation, blank
    lines.

    \b
    torchgen-lite fmt
    torchgen-lite fmt --check
    torchgen-lite fmt native_functions.yaml
    """
    projects, files = projects_and_files(paths)
    code = _format(session, files, check, diff) if files else FINE
    if projects or not files:
        run = partial(_format, paths=(), check=check, diff=diff)
        code = max(code, each_project(session, projects, (), run))
    return code


def _format(
    session: Session,
    paths: Sequence[str],
    check: bool,
    diff: bool,
) -> int:
    config, diagnostics = session.settings()
    problems = list(diagnostics)
    changes: list[Change] = []
    if not has_errors(problems):
        changes += _formatted(config, paths, problems)
    stale = [change for change in changes if change.new != change.old]
    is_checked = check or diff
    unformatted = [] if session.is_text or not is_checked else stale
    session.report([*problems, *map(_not_formatted, unformatted)], kind="fmt")
    if diff and session.is_text:
        named = [c._replace(path=patch_folder(Path(c.path).resolve())) for c in stale]
        session.print_patch(render_diff(named, ""))
    if has_errors(problems):
        return session.exit_code(problems)
    if is_checked:
        if stale and session.is_text:
            for change in stale:
                session.warn(f"would reformat {_shown(change.path)}")
            session.warn(f"{counted(len(stale), 'file')} not formatted. Run `torchgen-lite fmt`.")
        return ATTENTION if stale else FINE
    write_contents({Path(_shown(change.path)): change.new or "" for change in stale})
    unchanged = len(changes) - len(stale)
    session.talk(f"{counted(len(stale), 'file')} reformatted, {unchanged} unchanged")
    return FINE


def _formatted(
    config: Config, given: Sequence[str], problems: list[Diagnostic]
) -> Iterator[Change]:
    """The files that are `given`, or else the project's, with what they are to be.

    Entries of the project's files may refer to those of the files before; other files stand alone.
    """
    read, unread_native = entry_reader(config)
    own = {os.path.realpath(config.root / path): config.root / path for path in config.schema}
    named = {os.path.realpath(path): Path(path) for path in given} or own
    paths = named if named.keys().isdisjoint(own) else {**own, **named}
    sources: dict[str, Source] = {}
    # What cannot be read of others matters if a file that is wrong may refer to it.
    unread_others = list(unread_native)
    for place, path in paths.items():
        source, unread = read_source(path, Path.cwd())
        if place in named:
            problems += unread
        else:
            unread_others += unread
        if source is not None:
            sources[place] = source
    readers = {source.path: read for source in sources.values()}
    of_project = [source for place, source in sources.items() if place in own]
    for source, after_others in each_after_others(read, of_project):
        readers[source.path] = after_others
    is_wrong = False
    for place, path in named.items():
        if place in sources:
            source = sources[place]
            text, wrong = format_text(source.text, source.path, readers[source.path])
            problems += wrong
            is_wrong |= bool(wrong)
            yield Change(str(path), "update", source.text, text)
    if is_wrong:
        problems += unread_others


def _not_formatted(change: Change) -> Diagnostic:
    """TG017 at the first line that differs."""
    path = _shown(change.path)
    place = first_difference(change, path, "here")
    return Diagnostic("TG017", f"`{path}` is not formatted", place, help="run `torchgen-lite fmt`")


def _shown(path: str) -> str:
    return shown_folder(Path(path).resolve(), Path.cwd())
