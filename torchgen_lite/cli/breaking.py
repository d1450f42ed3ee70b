"""`breaking`: what callers can no longer rely on since another version of the schema files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchgen_lite.cli.against.version import Version, other_version
from torchgen_lite.cli.exit_codes import CANNOT_RUN
from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.reports import with_paths
from torchgen_lite.cli.session import Session, global_options, require, schema_options
from torchgen_lite.diagnostics import Diagnostic, Source, read_code, sort_diagnostics
from torchgen_lite.diagnostics.text import counted

if TYPE_CHECKING:
    from torchgen_lite.analysis.compare import Level
    from torchgen_lite.analysis.operators import Operator
    from torchgen_lite.analysis.program import Program


level_option = click.option(
    "--level",
    type=click.Choice(("source", "call", "kernel")),
    default="source",
    help="What must keep working: source code, calls or kernels (default: source).",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line without the projects."""

    against: str
    level: Level
    torch: bool
    allow: Path | None
    everything: bool
    html: Path | None
    schema: tuple[str, ...]


@click.command("breaking")
@projects_argument
@click.option(
    "--against",
    required=True,
    metavar="REF|PATH|torch:VERSION",
    help="The old version: a git revision, a file or a PyTorch.",
)
@level_option
@click.option("--torch", is_flag=True, help="Take the installed PyTorch as the new version.")
@click.option(
    "--allow",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Operators that may change, one per line: `aten::foo* 2027-01-31`.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Also list what is new or changed compatibly."
)
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the report as an HTML page.",
)
@schema_options
@partial(global_options, more_formats=("markdown",))
@click.pass_obj
def breaking_command(session: Session, /, projects: tuple[str, ...], **options: Any) -> int:
    """List incompatible changes since another version. Exit 1 if there are any.

    PATH is a folder with the project or its schema files (for several projects, with a folder for
    each), a schema file, or a wheel of PyTorch. Anything else is taken as a git revision.

    \b
    torchgen-lite breaking --against main
    torchgen-lite breaking --against v1.0 --level call
    torchgen-lite breaking --against old/native_functions.yaml
    torchgen-lite breaking --torch --against torch:2.9 --level kernel
    """
    asked = Asked(**options)

    def compare(project: Session) -> int:
        return _compare(project, asked)

    alone = [f"--{name}" for name in ("schema", "torch", "html") if getattr(asked, name)]
    return each_project(session, projects, alone, compare)


def _compare(session: Session, asked: Asked) -> int:
    from torchgen_lite.analysis.compare import causes

    against, schema = asked.against, asked.schema
    program = session.load(schema=schema or None, torch=asked.torch, modules={})
    require(program.diagnostics)
    with other_version(session, against, program, schema, modules={}) as old:
        found = breaking_changes(old, program, asked.level)
    versions = old.program.resolved.operators, program.resolved.operators
    if asked.allow is not None:
        patterns, wrong = read_allowed(asked.allow, date.today())
        if wrong:
            session.report(wrong, kind="breaking")
            return CANNOT_RUN
        found = tuple([d for d in found if not _is_allowed(d.operator or "", patterns)])
    if session.output_format == "markdown" or asked.html is not None:
        _show_pages(session, asked, versions, found)
    if session.output_format == "markdown":
        return session.exit_code(found)
    session.report(found, kind="breaking")
    if session.is_text:
        _say_counts(session, len(found), len(old.program.functions), against)
        if len(found) >= _MANY:
            session.warn("".join(f"  {text}\n" for text in causes(*versions, found)).rstrip())
    if asked.everything:
        _show_others(session, versions, found)
    return session.exit_code(found)


def breaking_changes(old: Version, new: Program, level: Level) -> tuple[Diagnostic, ...]:
    """What callers can no longer rely on, under the targets of each version. Raises Refused."""
    from torchgen_lite.analysis.compare import compare_operators
    from torchgen_lite.targets.registered import select_both, side_of

    before, after = zip(*select_both(old.program, new))
    old.require([one for selection in before for one in selection.diagnostics])
    require([one for selection in after for one in selection.diagnostics])
    sides = side_of(old.program, before), side_of(new, after)
    theirs = {id(source) for source in old.program.sources}

    def path_of(source: Source) -> str:
        return old.path_of(source) if id(source) in theirs else source.path

    return sort_diagnostics(with_paths(compare_operators(*sides, level=level), path_of))


def _say_counts(session: Session, found: int, operators: int, against: str) -> None:
    if not found:
        session.talk(f"{counted(operators, 'operator')}, no breaking changes against {against}")
        return
    blank = "\n" if session.output_format == "full" else ""
    session.warn(f"{blank}{counted(found, 'breaking change')} against {against}")


def _show_pages(
    session: Session,
    asked: Asked,
    versions: tuple[Sequence[Operator], Sequence[Operator]],
    found: Sequence[Diagnostic],
) -> None:
    """Show the findings by cause, as Markdown if requested, and as a page."""
    from torchgen_lite.analysis.compare import causes
    from torchgen_lite.cli.backends.pages import Section, render_html, render_markdown, write_file

    title = f"{counted(len(found), 'breaking change')} against {asked.against}"
    rows = [(one.operator or "", read_code(one.code).title, one.message) for one in found]
    sections = [
        Section("", [(text,) for text in causes(*versions, found)] if len(found) >= _MANY else []),
        Section("what breaks", rows),
    ]
    if asked.everything:
        more = _others(versions, found)
        sections += [Section(title, [(text,) for text in listed]) for title, listed in more]
        rows = [*rows, *[(text, title, "") for title, listed in more for text in listed]]
    shown = [section for section in sections if section.rows]
    if session.output_format == "markdown":
        click.echo(render_markdown(title, shown), nl=False)
    if asked.html is not None:
        write_file(session, asked.html, render_html(title, shown, rows))


def _show_others(
    session: Session,
    versions: tuple[Sequence[Operator], Sequence[Operator]],
    found: Sequence[Diagnostic],
) -> None:
    """Show what is new, and the changes that break nothing."""
    (_, added), (_, changed) = _others(versions, found)
    lines = [*(f"new: {name}" for name in added), *(f"changed: {text}" for text in changed)]
    text = "".join(f"{line}\n" for line in lines)
    session.answer("breaking", text, added=added, changed=changed)


def _others(
    versions: tuple[Sequence[Operator], Sequence[Operator]], found: Sequence[Diagnostic]
) -> list[tuple[str, list[str]]]:
    """The changes that break nothing, under two titles."""
    from torchgen_lite.analysis.compare import added_operators, changed_compatibly

    changed = changed_compatibly(*versions, {one.operator or "" for one in found})
    return [
        ("new", list(added_operators(*versions))),
        ("compatible changes", list(changed)),
    ]


# From this many on, findings are summed up by cause.
_MANY = 4
# Matching time grows faster than the length of the pattern.
_LONGEST_PATTERN = 500


def read_allowed(path: Path, today: date) -> tuple[list[str], list[Diagnostic]]:
    """The name patterns in a file, one per line: `aten::foo* 2027-01-31  # why`.

    A pattern without a date never expires.
    """
    from torchgen_lite.loader.sources import read_source

    source, unread = read_source(path, Path.cwd())
    if source is None:
        return [], list(unread)
    patterns: list[str] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        words = line.partition("#")[0].split()
        try:
            until = date.fromisoformat(words[1]) if len(words) > 1 else today
        except ValueError:
            until = None
        is_long = any(len(word) > _LONGEST_PATTERN for word in words)
        if until is None or len(words) > 2 or is_long:
            message = f"`{path}`, line {number}, is not a name and a date"
            return [], [Diagnostic("TG014", message, help="write `aten::foo* 2027-01-31`")]
        patterns += words[:1] if until >= today else []
    return patterns, []


def _is_allowed(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
