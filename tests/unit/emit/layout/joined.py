"""The inverse of layout: join statements that take several lines."""

from __future__ import annotations

import io
import re
import tokenize

from torchgen_lite.emit.layout.python import join_lines
from torchgen_lite.emit.layout.python_lines import LINE_LENGTH

_SILENT = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}


def joined_python(text: str) -> str:
    """A file with one line for each statement, except for statements with comments or long strings, and tables."""
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
    joined = lines[0][: -len(lines[0].lstrip())] + join_lines(lines)
    # A statement that would fit on one line was written on several on purpose.
    return [joined] if len(joined) > LINE_LENGTH else lines


def join_cpp_lines(lines: list[str]) -> str:
    """Join the lines of a C++ statement.

    >>> join_cpp_lines(["f(", "    a,", "    b);"])
    'f(a, b);'
    """
    joined = lines[0].strip()
    for line in map(str.strip, lines[1:]):
        is_close = joined.endswith(("(", "[", "<", "::", "{")) or line.startswith(
            (")", "]", "}", ".", ">")
        )
        joined += line if is_close else f" {line}"
    return joined


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def joined_cpp(text: str) -> str:
    """A C++ file with one line for each statement, except for blocks in expressions, and initialisers."""
    out: list[str] = []
    lines = [] if "clang-format off" in text else text.replace("\\\n", "\0").split("\n")
    while lines:
        count = 1
        while count < len(lines) and _goes_on(join_cpp_lines(lines[:count]), lines[count]):
            count += 1
        statement, lines = lines[:count], lines[count:]
        margin = statement[0][: -len(statement[0].lstrip())]
        is_whole = count > 1 and not re.search(r"\) \{|\]\(.*\{|^ *:", "\n".join(statement)[:-1])
        out += [margin + join_cpp_lines(statement)] if is_whole else statement
    return "\n".join(out).replace("\0", "\\\n") or text


_WHOLE = ("//", "#", "}", "template <", "public:", "private:")


def _goes_on(text: str, following: str) -> bool:
    """Whether the next line belongs to the same statement."""
    if text.startswith(_WHOLE) or not text or not following or following.lstrip()[:1] == "#":
        return False
    bare = _STRING.sub("", text)
    if any(bare.count(opening) > bare.count(closing) for opening, closing in ("()", "[]")):
        return True
    is_list = re.search(r"(?:=|[(]|,|return) ?\{$", bare) is not None
    return is_list or bare.endswith("::") or not bare.endswith((";", "{", "}", ":", "},"))
