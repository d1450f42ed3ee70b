"""Which lines of a C++ file are statements to lay out.

Only lines that are too long and lists with a trailing comma are considered. Comments, text inside
`clang-format off`, and statements that already span several lines stay as they are.
"""

from __future__ import annotations

import re

from torchgen_lite.emit.layout.cpp import lay_out_cpp_statement
from torchgen_lite.emit.layout.cpp_usual import LINE_LENGTH

# A line that ends with one of these continues on the next.
_UNFINISHED = (",", "(", "[", "<", "=", "&&", "||", "?", "::", "\\", "return")
_COMMENT = re.compile(r"(^ *|  )// .*")
# A comment, and a continuation line.
_STAYS = re.compile(r"//|/\*|[)\]>?.|&]|:(?!:)|->")


def lay_out_cpp(text: str) -> str:
    """The text with its long statements broken.

    >>> print(lay_out_cpp(f"void {'f' * 60}(int first, int second);"))
    void ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff(
        int first,
        int second);
    """
    lines = text.split("\n")
    found = [i for i, line in enumerate(lines) if len(line) > LINE_LENGTH]
    if ",}" in text:
        found = sorted({*found, *(i for i, line in enumerate(lines) if ",}" in line)})
    if not found:
        return text
    raw = _raw_lines(text, lines)
    for i in found:
        line = lines[i].lstrip(" ")
        if i in raw or _STAYS.match(line):
            continue
        if line[0] == "#":
            lines[i] = _lay_out_directive(lines[i])
        elif not (i and _COMMENT.sub("", lines[i - 1]).endswith(_UNFINISHED)):
            lines[i] = lay_out_cpp_statement(line, len(lines[i]) - len(line))
    return "\n".join(lines)


def _lay_out_directive(line: str) -> str:
    """A complete preprocessor line, broken if it can be."""
    if line.startswith("#if ") and line[-1] != "\\":
        return "\n".join(_divide_condition(line))
    is_error = line.startswith("#error ") and line[-1] != "\\"
    return line.replace(" ", " \\\n    ", 1) if is_error else line


def _divide_condition(text: str) -> list[str]:
    """`#if` and its condition, with as many operands per line as fit.

    >>> _divide_condition("#if " + " && ".join(f"defined({'A' * 20})" for _ in range(3)))[1]
    '    defined(AAAAAAAAAAAAAAAAAAAA)'
    """
    lines, operand = [""], ""
    for word in text.split(" "):
        operand += f" {word}" if operand else word
        if operand.count("(") > operand.count(")") or not word.endswith(("&&", "||", ")")):
            continue
        # Two columns for the backslash.
        if lines[-1] and len(lines[-1]) + len(operand) + 3 > LINE_LENGTH:
            lines[-1] += " \\"
            lines.append(f"    {operand}")
        else:
            lines[-1] += f" {operand}" if lines[-1] else operand
        operand = ""
    return lines if not operand else [text]


def _raw_lines(text: str, lines: list[str]) -> set[int]:
    """The numbers of lines in a comment or inside `clang-format off`."""
    if "/*" not in text and "clang-format off" not in text:
        return set()
    raw: set[int] = set()
    is_off = is_comment = False
    for i, line in enumerate(lines):
        text = line.strip()
        is_off = (is_off or text == "// clang-format off") and text != "// clang-format on"
        if is_off or is_comment:
            raw.add(i)
        if text.startswith("/*") or is_comment:
            is_comment = "*/" not in text
    return raw
