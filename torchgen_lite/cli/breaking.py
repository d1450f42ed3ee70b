"""`breaking`: what callers can no longer rely on since another version of the schema files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from torchgen_lite.analysis.comparison.by_release import entries_by_release
from torchgen_lite.analysis.comparison.compare import (
    Level,
    added_operators,
    causes,
    changed_compatibly,
    compare_operators,
)
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.against.accepted import FILE, Judged, accept, identity, judge
from torchgen_lite.cli.against.version import Version, other_version, with_gradients
from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.pages import (
    Row,
    Section,
    column,
    filled,
    html_option,
    render_html,
    render_markdown,
    write_report,
)
from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.reports import line_of, seen_from_here, with_paths
from torchgen_lite.cli.session import Session, command, require, schema_options
from torchgen_lite.cli.tables.registrations import pytorchs_of_both
from torchgen_lite.diagnostics import (
    Diagnostic,
    Source,
    read_code,
    sort_diagnostics,
)
from torchgen_lite.diagnostics.text import counted, ended
from torchgen_lite.loader.config.options import Json
from torchgen_lite.pipeline import lint_targets
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.targets.generation import compared
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import Beneath, lent_operators, side_of

_Versions = tuple[Sequence[Operator], Sequence[Operator]]

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
    accept: str | None
    everything: bool
    html: Path | None
    schema: Sequence[str]


@command("breaking", more_formats=("markdown",))
@projects_argument
@click.option("--against", required=True, metavar="REF|PATH|torch:VERSION", help="The old version.")
@level_option
@click.option("--torch", is_flag=True, help="Take the installed PyTorch as the new version.")
@click.option(
    "--accept", metavar="REASON", help="Accept what is found, from now on, in `breaking.toml`."
)
@click.option("--all", "everything", is_flag=True, help="Also list what breaks nothing.")
@html_option
@schema_options
def breaking_command(session: Session, /, projects: Sequence[str], **options: Any) -> int:
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
    if asked.accept is not None and not asked.accept.strip():
        raise click.UsageError("`--accept` takes a reason.")
    if asked.accept and (asked.html or asked.everything or session.output_format == "markdown"):
        others = "--html, --all and `--output-format markdown`"
        raise click.UsageError(
            f"`--accept` writes `{FILE}` and lists nothing: give it without {others}."
        )
    alone = [f"--{name}" for name in ("schema", "torch", "html") if getattr(asked, name)]
    return each_project(session, projects, alone, partial(_compare, asked=asked))


def _compare(session: Session, asked: Asked) -> int:
    against = asked.against
    schema = asked.schema
    program = session.load(schema=schema or None, torch=asked.torch)
    require(lint_targets(program))
    note = ""
    with other_version(session, against, program, schema) as old:
        if program.config.operators == "torch":
            old, program, note = with_gradients(old, program)
        beneath = pytorchs_of_both(session, old.program, program)
        judged = judged_changes(old, program, asked.level, beneath)
    before = old.program
    after = program
    # An entry for an operator of PyTorch is no new operator.
    lent = lent_operators(before, after, beneath)
    versions = (*before.resolved.operators, *lent), after.resolved.operators
    if asked.accept is not None:
        accept(judged.changes, program.config.root, asked.accept)
        session.report([], kind="breaking")
        session.talk(f"{counted(len(judged.changes), 'change')} accepted in {FILE}")
        return FINE
    title = f"{judged.summary or '0 breaking changes'} against {against}"
    sections = _sections(asked, versions, judged, program.config.root)
    if session.output_format == "markdown":
        click.echo(render_markdown(title, sections), nl=False)
    else:
        _report(session, asked, versions, judged)
    if asked.html is not None:
        written = f"{counted(_count(sections), 'finding')} written to"
        write_report(session, asked.html, render_html(title, sections), written)
    if note:
        session.warn(note)
    return session.exit_code(judged.found)


def judged_changes(
    old: Version,
    new: Program,
    level: Level,
    beneath: Beneath,
) -> Judged:
    """What callers can no longer rely on, under the targets of each version and over PyTorch, and what of it the project
    accepts. Raises Refused.
    """
    old_sources = set(map(id, _sources(old.program)))

    def path_of(source: Source) -> str:
        if id(source) in old_sources:
            return old.path_of(source)
        return source.path

    changes = [*_compared(old, new, level, beneath)]
    known = set(map(identity, changes))
    for was, now, names in entries_by_release(old.program, new):
        # That a release has no entry any more is said of the operator as a whole.
        for change in _compared(old._replace(program=was), now, level, beneath):
            is_new = change.operator in names and identity(change) not in known
            if is_new and change.code not in _OF_WHOLE:
                known.add(identity(change))
                changes.append(change)
    sorted_changes = sort_diagnostics(with_paths(changes, path_of))
    return judge(sorted_changes, new.config.root, level, _unstable(old.program))


def _unstable(program: Program) -> set[str]:
    """The operators of which an entry says so, for whichever release it is."""
    functions = [*program.functions, *program.elsewhere]
    return {function.name for function in functions if function.unstable}


def _compared(
    old: Version,
    new: Program,
    level: Level,
    beneath: Beneath,
) -> Sequence[Diagnostic]:
    before, after = zip(*compared(old.program, new))
    old.require(_problems_of(before))
    require(_problems_of(after))
    lent = lent_operators(old.program, new, beneath), lent_operators(new, old.program, beneath)
    was = side_of(old.program, before, lent[0], beneath)
    now = side_of(new, after, lent[1], beneath)
    return compare_operators(was, now, level=level)


def _problems_of(selections: Sequence[Selection]) -> list[Diagnostic]:
    return list(chain.from_iterable(selection.diagnostics for selection in selections))


def _sources(program: Program) -> Iterator[Source]:
    """Everything that a finding may point at."""
    yield from program.sources
    if program.config.source is not None:
        yield program.config.source
    for options in program.modules.values():
        for index in options.values():
            yield from [module.source for module in index.modules]


def _report(
    session: Session,
    asked: Asked,
    versions: _Versions,
    judged: Judged,
) -> None:
    session.report(judged.found, kind="breaking", extra=_notes_of(judged))
    if session.is_text:
        before = [operator.is_derived for operator in versions[0]].count(False)
        summary = judged.summary
        if not judged.found:
            text = f"{counted(before, 'operator')}, no breaking changes against {asked.against}"
            session.talk(f"{text}, {summary}" if summary else text)
        else:
            blank = "\n" if session.output_format == "full" else ""
            session.warn(f"{blank}{summary or 'no breaking changes'} against {asked.against}")
            for text in _causes(versions, judged):
                session.warn(f"  {text}")
        for note in judged.unstable:
            session.talk(f"note[{note.code}]: {note.message} (`{note.operator}` is unstable)")
    if asked.everything:
        added, changed = _others(versions, judged)
        lines = [*(f"new: {name}" for name in added), *(f"changed: {text}" for text in changed)]
        text = ended(lines)
        session.answer("breaking", text, added=added, changed=changed)


def _notes_of(judged: Judged) -> Json:
    """What the JSON document has of unstable operators, if there is anything."""
    notes = []
    for note in judged.unstable:
        notes.append({"operator": note.operator, "code": note.code, "message": note.message})
    return {"unstable": notes} if notes else {}


def _sections(
    asked: Asked,
    versions: _Versions,
    judged: Judged,
    root: Path,
) -> list[Section]:
    """The findings by cause and by effect, entries of `breaking.toml` without one, and what breaks nothing."""
    sections = [column("", _causes(versions, judged), "cause")]
    by_effect = grouped(seen_from_here(judged.found, root), attrgetter("effect"))
    for effect, title in _TITLES.items():
        rows = list(map(_row, by_effect.get(effect, ())))
        sections.append(Section(title, rows, _FINDING))
    notes = [(note.operator, note.code, note.message) for note in judged.unstable]
    sections.append(Section("unstable operators", notes, ("operator", "code", "what changed")))
    if asked.everything:
        sections += map(column, ("new", "compatible changes"), _others(versions, judged))
    return filled(sections)


def _row(change: Diagnostic) -> Row:
    """A finding on a page, as the text has it: with its code, the call that shows it, its place and its help."""
    what = f"{read_code(change.code).title} ({change.code})"
    witness = f"`{change.witness}`" if change.witness else ""
    return (change.operator, what, change.message, witness, line_of(change), change.way_on)


def _count(sections: Sequence[Section]) -> int:
    """The findings, without their causes."""
    return sum(len(section.rows) for section in sections if section.title)


def _causes(versions: _Versions, judged: Judged) -> list[str]:
    if len(judged.changes) >= _MANY:
        return causes(*versions, judged.changes)
    return []


def _others(versions: _Versions, judged: Judged) -> tuple[list[str], list[str]]:
    """The new operators, and the changes that break nothing."""
    broken = {change.operator for change in judged.changes}
    return added_operators(*versions), changed_compatibly(*versions, broken)


# What a page calls findings of each effect.
_TITLES = {
    "breaks callers": "what breaks",
    "changes results": "what changes results",
    "breaks promises": "what breaks promises",
    "may change": "what may change",
    "": "accepted, but not there",
}
_FINDING = ("operator", "what", "finding", "witness", "place", "what to do")
_OF_WHOLE = frozenset({"TG350", "TG351", "TG377"})
# From this many on, findings are summed up by cause.
_MANY = 4
