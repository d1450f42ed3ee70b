"""Renders the findings of `coverage` and `upgrade` as text, Markdown or a searchable page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.session import Session, writing
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import one_line
from torchgen_lite.loader.sources import shown_path

Row = tuple[str, ...]


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


def with_findings(
    session: Session, title: str, found: Sequence[Diagnostic], sections: Sequence[Section]
) -> list[Section]:
    """The sections; for Markdown, which shows findings nowhere else, preceded by one with these."""
    if session.output_format != "markdown" or not found:
        return list(sections)
    return [Section(title, finding_rows(found)), *sections]


def finding_rows(found: Sequence[Diagnostic]) -> list[Row]:
    """Rows of an operator and the message about it."""
    return [(one.operator or "", one.message, one.help or "") for one in found]


def show_answer(session: Session, answer: Answer, html: Path | None) -> None:
    """Print the answer in the requested format, and write the page if one is requested."""
    if session.output_format == "markdown":
        click.echo(render_markdown(answer), nl=False)
    else:
        session.answer(answer.kind, render_text(answer.sections), **answer.data)
    if html is not None:
        write_file(session, html, render_html(answer))


def write_file(session: Session, path: Path, text: str) -> None:
    """Write a file that the command line names, and say so."""
    from torchgen_lite.emit.write import replace_file

    with writing(path):
        replace_file(path, text)
    session.talk(f"wrote {shown_path(path, Path.cwd())}")


def render_text(sections: Sequence[Section]) -> str:
    """Columns below each title."""
    return "\n".join(_section_text(section) for section in sections)


def _section_text(section: Section) -> str:
    columns = max((len(row) for row in section.rows), default=0)
    widths = [
        max((len(row[column]) for row in section.rows if column < len(row)), default=0)
        for column in range(columns)
    ]
    lines = [section.title] if section.title else []
    for row in section.rows:
        cells = [
            cell.rjust(width) if cell[:1].isdigit() else cell.ljust(width)
            for cell, width in zip(row, widths)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def render_markdown(answer: Answer) -> str:
    """A heading, and a table for each section; long ones fold."""
    parts = [f"## {answer.title}\n"]
    for title, rows in answer.sections:
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


_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
input { font: inherit; padding: .4rem .6rem; width: min(30rem, 100%); }
table { border-collapse: collapse; margin: 1rem 0; }
td { border-bottom: 1px solid #8884; padding: .15rem 1rem .15rem 0; vertical-align: top; }
td:not(:last-child) { white-space: nowrap; }
#rows td { overflow-wrap: anywhere; }
#rows td:first-child { font-family: ui-monospace, monospace; white-space: normal; min-width: 12rem; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; }
  h1 { font-size: 1.5rem; }
  #rows, #rows tbody, #rows tr, #rows td { display: block; }
  #rows tr { border-bottom: 1px solid #8884; padding: .3rem 0; }
  #rows td { border: 0; padding: 0; }
}
</style>
<h1>@TITLE@</h1>
@SECTIONS@
<p><input id="search" type="search" placeholder="Search operators" autofocus> <span id="count"></span></p>
<table id="rows"></table>
<script>
const rows = @DATA@;
const texts = rows.map(row => row.join(" ").toLowerCase());
const table = document.getElementById("rows"), search = document.getElementById("search");
function show() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = rows.filter((_, i) => words.every(word => texts[i].includes(word)));
  document.getElementById("count").textContent = found.length + " of " + rows.length;
  table.replaceChildren(...found.slice(0, 500).map(row => {
    const line = document.createElement("tr");
    line.append(...row.map(cell => {
      const place = document.createElement("td");
      place.textContent = cell;
      return place;
    }));
    return line;
  }));
}
search.addEventListener("input", show);
show();
</script>
"""


def render_html(answer: Answer) -> str:
    """A self-contained page; it shows the first 500 rows that match."""
    sections = "".join(
        f"<h2>{escape(title)}</h2><table>{''.join(map(_html_row, rows))}</table>\n"
        for title, rows in answer.sections
        if len(rows) <= 12
    )
    # "<" is escaped so that no name can end the script element.
    data = json.dumps(answer.rows, separators=(",", ":")).replace("<", "\\u003c")
    page = _PAGE.replace("@TITLE@", escape(answer.title)).replace("@SECTIONS@", sections)
    return page.replace("@DATA@", data)


def _html_row(row: Row) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
