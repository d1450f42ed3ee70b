"""How answers are printed: columns of text that know the terminal, tables of Markdown, searchable pages."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.session import Session, write_text
from torchgen_lite.diagnostics.text import one_line
from torchgen_lite.loader.sources import shown_path

Row = tuple[str, ...]

output_option = partial(click.option, metavar="FILE", type=click.Path(path_type=Path))
html_option = output_option("--html", help="Write the report as an HTML page.")


class Section(NamedTuple):
    """A table with a title, and the heads of its columns, which Markdown needs."""

    title: str
    rows: Sequence[Row]
    heads: Row = ("operator",)


def write_file(session: Session, path: Path, text: str, said: str) -> None:
    """Write a file that the command line names, and say so: `3 operators written to ops.yaml`."""
    write_text(path, text)
    session.talk(f"{said} {shown_path(path, Path.cwd())}")


def section_text(section: Section, width: int = 0) -> str:
    """Columns below the title."""
    lines = [section.title] if section.title else []
    lines += [textwrap.indent(line, "  ") for line in columns(section.rows, width - 2)]
    return "".join(f"{line}\n" for line in lines)


def columns(rows: Sequence[Row], width: int = 0) -> Iterator[str]:
    """The rows, with their cells aligned. In a terminal that is narrower than a row, the cells after the first are below it."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        cells = []
        for cell, size in zip(row, widths):
            cells.append(
                cell.rjust(size) if cell[:1].isdigit() and len(row) > 1 else cell.ljust(size)
            )
        line = "  ".join(cells).rstrip()
        below = "  ".join(filter(None, row[1:]))
        if 0 < width < len(line):
            wrapped = textwrap.wrap(
                below, max(width - 6, 20), break_long_words=False, break_on_hyphens=False
            )
            line = "\n      ".join([row[0], *wrapped])
        yield line


def render_markdown(heading: str, sections: Sequence[Section]) -> str:
    """A heading, and a table for each section; long ones fold."""
    parts = [f"## {heading}\n"]
    for title, rows, heads in sections:
        lines = []
        for row in (heads, *rows):
            lines.append(f"| {' | '.join(_cell(cell) for cell in row)} |\n")
        text = "".join([lines[0], f"|{'---|' * len(heads)}\n", *lines[1:]])
        if len(rows) > 12:
            text = f"<details><summary>{escape(title)}</summary>\n\n{text}\n</details>\n"
        elif title:
            text = f"**{title}**\n\n{text}"
        parts.append(text)
    return "\n".join(parts)


def _cell(text: str) -> str:
    # Markdown shows code as it stands.
    text = re.sub("(`[^`]*`)|[<>&]", lambda found: found[1] or escape(found[0]), one_line(text))
    return text.replace("|", "\\|")


def render_html(title: str, sections: Sequence[Section], rows: Sequence[Row]) -> str:
    """A self-contained page; it shows the first 500 rows that match."""
    tables = "".join(
        f"<h2>{escape(name)}</h2><table>{''.join(map(_html_row, own))}</table>\n"
        for name, own, _ in sections
        if len(own) <= 12
    )
    return fill_page(Path(__file__).with_name("page.html"), title, {"SECTIONS": tables}, DATA=rows)


def fill_page(page: Path, title: str, parts: Mapping[str, str], **data: object) -> str:
    """A page with its title, `parts` as they are, and data in the places of their names, such as `@DATA@`."""
    every = {"TITLE": escape(title, quote=False), **parts}
    for name, one in data.items():
        # "<" is escaped so that no text can end the script element that holds the data.
        every[name] = json.dumps(one, separators=(",", ":")).replace("<", "\\u003c")
    return re.sub("@([A-Z]+)@", lambda found: every[found[1]], page.read_text("utf-8"))


def _html_row(row: Row) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
