"""The inverse of layout: statements that stand on several lines, each on one."""

from __future__ import annotations

import io
import tokenize

from torchgen_lite.emit.layout.python import join_lines

_SILENT = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}


def joined_python(text: str) -> str:
    """A file with each statement on one line; those with comments or longer strings in them stay."""
    lines, out, done, start = text.split("\n"), [], 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _SILENT:
            continue
        start = start or token.start[0]
        if token.type == tokenize.NEWLINE:
            statement = lines[start - 1 : token.start[0]]
            out += lines[done : start - 1]
            out += statement if "#" in "".join(statement) else _joined(statement)
            done, start = token.start[0], 0
    return "\n".join(out + lines[done:])


def _joined(lines: list[str]) -> list[str]:
    if len(lines) == 1 or '"""' in "".join(lines):
        return lines
    return [lines[0][: -len(lines[0].lstrip())] + join_lines(lines)]
