"""How answers are printed: columns of text that know the terminal, tables of Markdown, pages of HTML."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from itertools import starmap, zip_longest
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.session import Session, refuse_to_replace, write_contents, writing
from torchgen_lite.diagnostics.text import ended, one_line
from torchgen_lite.loader.sources import shown_path

Row = tuple[str, ...]

_HERE = Path(__file__).parent
# What stands under these heads is code; elsewhere code is in backticks.
_OF_CODE = frozenset({"operator", "place", "file", "kernel", "schema", "formula"})

output_option = partial(click.option, metavar="FILE", type=click.Path(path_type=Path))
html_option = output_option("--html", help="Write the report as an HTML page.")


class Section(NamedTuple):
    """A table with a title, and the heads of its columns, which Markdown needs."""

    title: str
    rows: Sequence[Row]
    heads: Row = ("operator",)


def column(title: str, texts: Iterable[str], head: str = "operator") -> Section:
    """A table of one column."""
    return Section(title, [(text,) for text in texts], (head,))


def filled(sections: Iterable[Section]) -> list[Section]:
    """Those that have something."""
    return [section for section in sections if section.rows]


def write_file(
    session: Session,
    path: Path,
    text: str,
    what: str,
) -> None:
    """Write a file that the command line names, and say so: `3 operators written to ops.yaml`."""
    write_files(session, {path: (text, what)})


def write_files(session: Session, files: Mapping[Path, tuple[str, str]]) -> None:
    """Write several, all or none: the text of each, and what is said of it."""
    write_contents({path: text for path, (text, _) in files.items()})
    for path, (_, what) in files.items():
        session.talk(f"{what} {shown_path(path, Path.cwd())}")


def write_report(session: Session, path: Path, text: str, what: str) -> None:
    """Write a file that a command makes anew each time. It replaces none that begins otherwise: that may be a schema."""
    with writing(path):
        if is_another(path, text):
            refuse_to_replace(path, "write to a new file, or delete this one")
    write_file(session, path, text, what)


def is_another(path: Path, text: str) -> bool:
    """Whether there is a file that does not begin as the text does."""
    if not path.is_file():
        return False
    first = path.read_bytes().partition(b"\n")[0].strip()
    return bool(first) and first != text.encode().partition(b"\n")[0].strip()


def section_text(section: Section, width: int = 0) -> str:
    """Columns below the title."""
    lines = [section.title] if section.title else []
    lines += [textwrap.indent(line, "  ") for line in columns(section.rows, width - 2)]
    return ended(lines)


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
            lines.append(f"| {' | '.join(map(_cell, row))} |\n")
        text = "".join([lines[0], f"|{'---|' * len(heads)}\n", *lines[1:]])
        if len(rows) > 12:
            text = f"<details><summary>{escape(title)}</summary>\n\n{text}\n</details>\n"
        elif title:
            text = f"**{title}**\n\n{text}"
        parts.append(text)
    return "\n".join(parts)


def _cell(text: str) -> str:
    # Markdown shows code as it stands.
    text = re.sub("(`[^`]*`)|[<>&]", lambda match: match[1] or escape(match[0]), one_line(text))
    return text.replace("|", "\\|")


def render_html(title: str, sections: Sequence[Section]) -> str:
    """A self-contained page of all rows. Code in backticks is shown as code; the page has a search if it is long."""
    parts = {
        "HEADING": _inline(title),
        "SECTIONS": "".join(map(_html_section, sections)),
    }
    return fill_page(_HERE / "page.html", title.replace("`", ""), parts)


def _html_section(section: Section) -> str:
    title = _inline(section.title)
    count = f" <span>{len(section.rows)}</span>" if section.rows else ""
    heading = f"<h2>{title}{count}</h2>\n" if title else ""
    return f"<section>\n{heading}{_html_table(section) if section.rows else ''}</section>\n"


def _html_table(section: Section) -> str:
    """A table; each row has a line of the page."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in section.heads)
    rows = ended(_html_row(row, section.heads) for row in section.rows)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def _html_row(row: Row, heads: Row) -> str:
    cells = starmap(_html_cell, zip_longest(row, heads, fillvalue=""))
    return f"<tr>{''.join(cells)}</tr>"


def _html_cell(text: str, head: str) -> str:
    if head in _OF_CODE:
        return f'<td class="code">{_code(text)}</td>'
    return f"<td>{_inline(text)}</td>"


def _inline(text: str) -> str:
    """Text as HTML, with what is in backticks as code."""
    html = []
    for place, part in enumerate(re.split("`([^`]*)`", text)):
        html.append(_code(part) if place % 2 else escape(part))
    return "".join(html)


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>" if text else ""


def fill_page(page: Path, title: str, parts: Mapping[str, str], **data: object) -> str:
    """A page with its title and the look of all pages, `parts` as they are, and data in the places of their names, such
    as `@DATA@`.
    """
    look = (_HERE.parent / "copied/docs/look.css").read_text("utf-8")
    every = {"TITLE": escape(title, quote=False), "LOOK": look, **parts}
    for name, value in data.items():
        # "<" is escaped so that no text can end the script element that holds the data.
        every[name] = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return re.sub("@([A-Z]+)@", lambda match: every[match[1]], page.read_text("utf-8"))
