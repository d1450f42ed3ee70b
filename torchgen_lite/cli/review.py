"""`review`: what a change does, on one page for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from torchgen_lite.analysis.comparison.compare import Level
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.cli.against.accepted import Judged, identity
from torchgen_lite.cli.against.version import NotThere, Version, other_version
from torchgen_lite.cli.breaking import judged_changes, level_option
from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.pages import (
    Section,
    filled,
    html_option,
    output_option,
    render_html,
    render_markdown,
    write_report,
)
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.plans import STATUS, changed_files, json_parts, out_of_date, plan_of
from torchgen_lite.cli.projects import each_project, projects_argument
from torchgen_lite.cli.reports import line_of, seen_from_here
from torchgen_lite.cli.session import Session, command, require_places, writing
from torchgen_lite.cli.tables.compare import (
    Comparison,
    compare_targets,
    comparison_data,
    comparison_sections,
)
from torchgen_lite.cli.tables.registrations import pytorchs_of_both
from torchgen_lite.diagnostics import Diagnostic, content_of, errors_among, has_errors
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.diff import count_lines
from torchgen_lite.emit.plan import Change, Plan
from torchgen_lite.emit.write import add_to_file
from torchgen_lite.pipeline import Generated, generate_all, lint
from torchgen_lite.schema.grouped import grouped

_DIAGNOSTIC = ("place", "code", "finding", "what to do")


@dataclass(frozen=True, slots=True)
class Review:
    """The findings. `plan` compares generated code with the disk, `changes` with the other side; `tables` has the cells
    that change, by target.
    """

    plan: Plan
    breaking: Judged
    tables: Mapping[str, Comparison]
    new: Sequence[Diagnostic]
    resolved: int
    changes: Sequence[Change]
    generated: Generated
    before: Generated


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line without the projects."""

    against: str
    level: Level
    summary: Path | None
    html: Path | None


@command("review")
@projects_argument
@click.option("--against", required=True, metavar="REF|PATH", help="Compare with this version.")
@level_option
@output_option("--summary", help="Append the page to this file, such as $GITHUB_STEP_SUMMARY.")
@html_option
def review_command(session: Session, projects: Sequence[str], **options: Any) -> int:
    """Summarize a change on one page of Markdown: whether everything is up to date, what breaks
    callers, which cells of the dispatch tables change, which diagnostics are new, and how much
    generated code changes. The exit code is that of the worst part.

    \b
    torchgen-lite review --against main
    torchgen-lite review --against main --output-format github --summary page.md
    """
    asked = Asked(**options)
    require_places({"--summary": asked.summary, "--html": asked.html})
    alone = ["--html"] if asked.html is not None else []
    return each_project(session, projects, alone, partial(_review, asked=asked))


def _review(session: Session, asked: Asked) -> int:
    program = lint(session.load())
    generated = generate_all(program)
    if has_errors(generated.diagnostics):
        errors = errors_among(generated.diagnostics)
        rows = _diagnostic_rows(errors, program)
        section = Section("errors", rows, _DIAGNOSTIC)
        _show_page(session, asked, program, [section])
        session.report(generated.diagnostics, kind="review")
        return session.exit_code(generated.diagnostics)
    review = _find(session, program, generated, asked.against, asked.level)
    stale = out_of_date(review.plan)
    _show_page(session, asked, program, _sections(program, review))
    # GitHub shows only the first ten of a step.
    diagnostics = [*review.breaking.found, *review.new, *review.plan.diagnostics, *stale]
    if not session.is_text:
        parts = json_parts(review.plan, generated)
        extra = {**parts["extra"], **comparison_data(review.tables)}
        session.report(diagnostics, kind="review", summary=parts["summary"], extra=extra)
    return max(session.exit_code(diagnostics), ATTENTION if stale else FINE)


def _find(
    session: Session,
    program: Program,
    generated: Generated,
    against: str,
    level: Level,
) -> Review:
    plan = plan_of(program, generated)
    with ExitStack() as stack:
        try:
            old = stack.enter_context(other_version(session, against, program))
            old = old._replace(program=lint(old.program))
            before = old.generate()
        except NotThere:  # So everything is new.
            nothing = Program(Resolved(()), program.config)
            old = Version(against, nothing, Path(), "")
            before = Generated({}, {}, ())
        beneath = pytorchs_of_both(session, old.program, program)
        known = Counter(map(identity, before.diagnostics))
        new = []
        for diagnostic in generated.diagnostics:
            if known[identity(diagnostic)]:
                known[identity(diagnostic)] -= 1  # Each old one is matched once.
            else:
                new.append(diagnostic)
        return Review(
            plan,
            judged_changes(old, program, level, beneath),
            compare_targets(old.program, program, beneath),
            new,
            sum(known.values()),
            list(changed_files(before, generated)),
            generated,
            before,
        )


def _show_page(
    session: Session,
    asked: Asked,
    program: Program,
    sections: Sequence[Section],
) -> None:
    """Print the page, and write it where the command line says."""
    title = _title(program, asked.against)
    page = render_markdown(title, sections)
    if session.is_text:
        click.echo(page, nl=False)
    if asked.html is not None:
        write_report(session, asked.html, render_html(title, sections), "page written to")
    if asked.summary is not None:
        with writing(asked.summary):
            add_to_file(asked.summary, f"{page}\n")


def _sections(program: Program, review: Review) -> list[Section]:
    stale = []
    for change in review.plan.pending:
        stale.append((review.plan.path(change.path), STATUS[change.action]))
    sections = [
        Section("", _summary(review), ("part", "what changes")),
        Section("out of date: run `torchgen-lite generate`", stale, ("file", "status")),
        Section("what breaks", _diagnostic_rows(review.breaking.found, program), _DIAGNOSTIC),
        Section("new diagnostics", _diagnostic_rows(review.new, program), _DIAGNOSTIC),
        *_table_sections(review.tables),
        Section(
            "generated code", list(_size_rows(review)), ("target", "files", "added", "removed")
        ),
    ]
    return filled(sections)


def _title(program: Program, against: str) -> str:
    folder = shown_folder(program.config.root, Path.cwd())
    return f"{f'`{folder}`' if folder else 'Review'} against `{against}`"


def _summary(review: Review) -> list[tuple[str, ...]]:
    """One line for each part."""
    stale = len(review.plan.pending)
    new = len(review.new)
    added, removed = _size(review.changes)
    resolved = f", {review.resolved} resolved" if review.resolved else ""
    size = f"{counted(len(review.changes), 'file')}, +{added} -{removed}"
    return [
        ("check", f"{counted(stale, 'file')} out of date" if stale else "up to date"),
        ("breaking", review.breaking.summary or "none"),
        *_table_rows(review.tables),
        ("diagnostics", f"{new} new{resolved}" if new or resolved else "no new ones"),
        ("generated code", size if review.changes else "the same"),
    ]


def _table_rows(tables: Mapping[str, Comparison]) -> list[tuple[str, str]]:
    """One row, or one for each target if their tables change differently."""
    rows = []
    for target, comparison in tables.items():
        of = f" of {target}" if len(tables) > 1 else ""
        rows.append((f"dispatch tables{of}", comparison.summary))
    return rows or [("dispatch tables", "no cell changes")]


def _table_sections(tables: Mapping[str, Comparison]) -> Iterator[Section]:
    for target, comparison in tables.items():
        for section in comparison_sections(comparison):
            of = f", {target}" if len(tables) > 1 else ""
            yield section._replace(title=f"{section.title}{of}")


def _diagnostic_rows(diagnostics: Sequence[Diagnostic], program: Program) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for diagnostic in seen_from_here(diagnostics, program.config.root):
        rows.append((line_of(diagnostic), diagnostic.code, *content_of(diagnostic).as_row))
    return rows


def _size_rows(review: Review) -> Iterator[tuple[str, ...]]:
    """For each target, how many files change and by how many lines."""
    target_of = {**review.before.target_of, **review.generated.target_of}
    changed = grouped(review.changes, lambda change: target_of[change.path])
    for target in dict.fromkeys(target_of.values()):
        changes = changed.get(target)
        if changes:
            added, removed = _size(changes)
            yield target, counted(len(changes), "file"), f"+{added}", f"-{removed}"


def _size(changes: Sequence[Change]) -> tuple[int, int]:
    added = 0
    removed = 0
    for change in changes:
        more, fewer = count_lines(change)
        added += more
        removed += fewer
    return added, removed
