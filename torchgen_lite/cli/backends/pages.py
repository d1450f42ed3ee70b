"""Renders the findings of `coverage` and `upgrade` as text, Markdown or a searchable page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.session import Session, write_text
from torchgen_lite.diagnostics import Diagnostic, content_of, sort_diagnostics
from torchgen_lite.diagnostics.text import one_line
from torchgen_lite.loader.sources import shown_path

Row = tuple[str, ...]

output_option = partial(click.option, metavar="FILE", type=click.Path(path_type=Path))
html_option = output_option("--html", help="Write the report as an HTML page.")


class Section(NamedTuple):
    """A table with a title."""

    title: str
    rows: Sequence[Row]


class Answer(NamedTuple):
    """What a command found: sections for readers, all rows for a page, data for programs."""

    kind: str
    title: str
    sections: Sequence[Section]
    rows: Sequence[Row]
    data: Mapping[str, object]


def finding_rows(found: Sequence[Diagnostic]) -> list[Row]:
    """Rows of an operator and what is said about it."""
    return [(one.operator or "", *content_of(one).in_two) for one in found]


def show_answer(
    session: Session, answer: Answer, html: Path | None, title: str, found: Sequence[Diagnostic]
) -> None:
    """Report findings, print the answer in the requested format, and write the page if one is requested.

    Markdown shows findings nowhere else, so there they are the first section, with this title.
    """
    session.report(sort_diagnostics(found), kind=answer.kind)
    if session.output_format == "markdown":
        own = [Section(title, finding_rows(found))] if found else []
        click.echo(render_markdown(answer.title, [*own, *answer.sections]), nl=False)
    else:
        text = "\n".join(map(section_text, answer.sections))
        session.answer(answer.kind, text, **answer.data)
    if html is not None:
        write_file(session, html, render_html(answer.title, answer.sections, answer.rows))


def write_file(session: Session, path: Path, text: str) -> None:
    """Write a file that the command line names, and say so."""
    write_text(path, text)
    session.talk(f"wrote {shown_path(path, Path.cwd())}")


def section_text(section: Section) -> str:
    """Columns below the title."""
    widths = [max(map(len, column)) for column in zip_longest(*section.rows, fillvalue="")]
    lines = [section.title] if section.title else []
    for row in section.rows:
        cells = [
            cell.rjust(width) if cell[:1].isdigit() else cell.ljust(width)
            for cell, width in zip(row, widths)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def render_markdown(heading: str, sections: Sequence[Section]) -> str:
    """A heading, and a table for each section; long ones fold."""
    parts = [f"## {heading}\n"]
    for title, rows in sections:
        columns = max((len(row) for row in rows), default=1)
        head = f"| {' | '.join([''] * columns)} |\n|{'---|' * columns}\n"
        lines = [f"| {' | '.join(_cell(cell) for cell in row)} |\n" for row in rows]
        text = head + "".join(lines)
        if len(rows) > 12:
            text = f"<details><summary>{escape(title)}</summary>\n\n{text}\n</details>\n"
        elif title:
            text = f"**{title}**\n\n{text}"
        parts.append(text)
    return "\n".join(parts)


def _cell(text: str) -> str:
    return escape(one_line(text), quote=False).replace("|", "\\|")


def render_html(title: str, sections: Sequence[Section], rows: Sequence[Row]) -> str:
    """A self-contained page; it shows the first 500 rows that match."""
    tables = "".join(
        f"<h2>{escape(name)}</h2><table>{''.join(map(_html_row, own))}</table>\n"
        for name, own in sections
        if len(own) <= 12
    )
    # "<" is escaped so that no name can end the script element.
    data = json.dumps(rows, separators=(",", ":")).replace("<", "\\u003c")
    page = Path(__file__).with_name("page.html").read_text("utf-8")
    page = page.replace("@TITLE@", escape(title)).replace("@SECTIONS@", tables)
    return page.replace("@DATA@", data)


def _html_row(row: Row) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
