"""What `coverage` and `upgrade` print: findings and rows, in the format that is asked for, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.pages import (
    Row,
    Section,
    render_html,
    render_markdown,
    section_text,
    write_report,
)
from torchgen_lite.cli.session import Session
from torchgen_lite.diagnostics import Diagnostic, content_of, sort_diagnostics
from torchgen_lite.diagnostics.text import counted

# Of findings, as `finding_rows` gives them.
FINDING = ("operator", "finding", "what to do")


class Answer(NamedTuple):
    """What a command found: sections for readers, those that only a page has room for, data for programs."""

    kind: str
    title: str
    sections: Sequence[Section]
    data: Mapping[str, object]
    more: Sequence[Section] = ()


def finding_rows(findings: Sequence[Diagnostic]) -> list[Row]:
    """Rows of an operator and what is said about it."""
    return [(finding.operator or "", *content_of(finding).in_two) for finding in findings]


def show_answer(
    session: Session, answer: Answer, html: Path | None, title: str, findings: Sequence[Diagnostic]
) -> None:
    """Report findings, print the answer in the requested format, and write the page if one is requested.

    Markdown and pages show findings nowhere else, so there they are the first section, with this title.
    """
    session.report(sort_diagnostics(findings), kind=answer.kind)
    first = [Section(title, finding_rows(findings), FINDING)] if findings else []
    sections = [*first, *answer.sections]
    if session.output_format == "markdown":
        click.echo(render_markdown(answer.title, sections), nl=False)
    else:
        text = "\n".join(section_text(section, session.width) for section in answer.sections)
        session.answer(answer.kind, text, **answer.data)
    if html is not None:
        shown = [*sections, *answer.more]
        count = sum(len(section.rows) for section in shown)
        page = render_html(answer.title, shown)
        write_report(session, html, page, f"{counted(count, 'row')} written to")
