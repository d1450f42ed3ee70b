"""GitHub workflow commands, which show as annotations on a pull request.

::error title=TG103,file=ops.yaml,line=14,endLine=14,col=5,endColumn=9::unknown dispatch key `CPUU`: not a key
"""

from __future__ import annotations

from collections.abc import Iterable

from .content import content_of
from .model import Diagnostic
from .text import ended


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One workflow command a line, errors before warnings, since GitHub shows only the first ten."""
    ordered = sorted(diagnostics, key=lambda d: d.severity != "error")
    return ended(map(_command, ordered))


def _command(diagnostic: Diagnostic) -> str:
    properties = {"title": diagnostic.code}
    if diagnostic.label is not None:
        line, column = diagnostic.start()
        end_line, end_column = diagnostic.end()
        properties |= {
            "file": diagnostic.path,
            "line": str(line),
            "endLine": str(end_line),
        }
        # GitHub rejects columns on an annotation of several lines.
        if line == end_line:
            properties |= {"col": str(column), "endColumn": str(max(end_column, column + 1))}
    content = content_of(diagnostic)
    text = "\n".join([*content.lines, *content.pointers])
    listed = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{diagnostic.severity} {listed}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
