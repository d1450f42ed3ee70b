"""Python statements of which most long lines consist, divided without looking at each of their words.

Note [Usual statements]
A signature, an import, and a value that is a call or a display are divided at their one pair of brackets; there
is nothing to choose. What is said here is what `python.py` says, ten times as fast, as a test holds; whatever
is not as simple is left to it.
"""

from __future__ import annotations

import re

from torchgen_lite.emit.layout.items import split_items
from torchgen_lite.emit.layout.python_lines import LINE_LENGTH

_HEAD = re.compile(
    r"""(?P<signature>(?:async\ )?def\ \w+)\(
    |(?:return\ |await\ |[\w.]+\ =\ |\*{1,2}|\w+=|@)?(?P<called>[\w.]+)\(
    |(?:return\ |[\w.]+\ =\ |\w+=)?[(\[{]""",
    re.VERBOSE,
)
_IMPORT = re.compile(r"from [\w.]+ import (?=\w)")
_VALUE = re.compile(r"([\w.]+(?:: \w+)? = )([\w.]+)")
_SUBSCRIPT = re.compile(
    r"(return |[\w.]+(?:: [\w.]+(?:\[[\w., \[\]]*\])?)? = )([\w.]+(?:\[[^\[\]]*\])*\[)([^\[\],]+)\]"
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ITEM = r"(?:[^()\[\]{},]|\[\w*\]|\((?:[^()\[\]{},]|\([^()\[\]{},]*\))*\))"
ONE_TUPLE = re.compile(rf"""(?<![\w\])"'])\({_ITEM}*,\)""")
"""A tuple of one simple item, whose comma asks for nothing: a name, or calls with one argument."""
_NOT_CALLED = frozenset("""
    and assert await del elif except for from if import in is lambda not or raise return while with yield
    """.split())
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def lay_out_usual(text: str, indent: int, tail: str = "") -> list[str] | None:
    """The lines of a usual statement that is too long, or of an item with a comma as its `tail`; else None."""
    head = _HEAD.match(text)
    if head is None or head["called"] in _NOT_CALLED:
        return _without_brackets(text, indent)
    end = len(text) - 1
    if head["signature"]:
        end = text.rfind(") -> ")
        end = text.rfind("):") if end < 0 else end
    inside, is_asked = text[head.end() : end], text[end - 1 : end] == ","
    inside = inside[:-1] if is_asked else inside
    if not is_asked and indent + len(text) + len(tail) <= LINE_LENGTH:
        return None
    if not inside or text[end] != _PAIRS[head[0][-1]]:
        return None
    if _is_unusual(inside) and _is_unusual(ONE_TUPLE.sub("()", inside)):
        return None
    items = split_items(inside)
    first, last = f"{' ' * indent}{head[0]}", f"{' ' * indent}{text[end:]}{tail}"
    if items is None or len(first) > LINE_LENGTH or len(last) > LINE_LENGTH:
        return None
    if not head["signature"] and not head["called"]:
        return _opened(first, items, last, indent) if len(items) > 1 else None
    body = f"{' ' * (indent + 4)}{', '.join(items)}"
    if len(items) == 1 and (head["signature"] or is_asked):
        if "," in inside:
            return None
        body += ","
    if len(body) <= LINE_LENGTH and (len(items) == 1 or not is_asked):
        return [first, body, last]
    if len(items) > 1:
        return _opened(first, items, last, indent)
    inner = lay_out_usual(inside, indent + 4) if head["called"] and not is_asked else None
    return None if inner is None else [first, *inner, last]


def _is_unusual(inside: str) -> bool:
    """Whether commas and brackets may mean something else; `in` is ten times as fast as a pattern here."""
    is_closed = ",)" in inside or ",]" in inside or ",}" in inside
    is_nested = " for " in inside or "lambda" in inside or "** " in inside
    return is_closed or is_nested or not inside.isascii()


def _without_brackets(text: str, indent: int) -> list[str] | None:
    """An import, or a value that is a name or a subscript."""
    if indent + len(text) <= LINE_LENGTH:
        return None
    margin = " " * indent
    names, value = _IMPORT.match(text), _VALUE.fullmatch(text)
    item = _SUBSCRIPT.fullmatch(text)
    if item is not None:
        first, rest = item[1] + item[2], f"{item[2]}{item[3]}]"
        if indent + len(first) <= LINE_LENGTH >= indent + 4 + len(item[3]):
            return [f"{margin}{first}", f"{margin}    {item[3]}", f"{margin}]"]
        if ":" not in item[1] or "]" in item[2]:
            return _at_subscript(text, indent, len(text) - len(item[3]) - 2)
        if max(len(item[1]) + 1, len(rest) + 4) + indent > LINE_LENGTH:
            return None
        return [f"{margin}{item[1]}(", f"{margin}    {rest}", f"{margin})"]
    if names is not None and text.isascii():
        items = text[names.end() :].split(", ")
        return _opened(f"{margin}{names[0]}(", items, f"{margin})", indent)
    if value is None or max(len(value[1]) + 1, len(value[2]) + 4) + indent > LINE_LENGTH:
        return None
    return [f"{margin}{value[1]}(", f"{margin}    {value[2]}", f"{margin})"]


def _at_subscript(text: str, indent: int, end: int) -> list[str] | None:
    """At the last of several subscripts before `end` whose bracket fits on the first line."""
    opening, margin = text.rfind("[", 0, end), " " * indent
    if opening < 0:
        return None
    if indent + opening >= LINE_LENGTH:
        return _at_subscript(text, indent, opening)
    inside, rest = text[opening + 1 : end - 1], text[end - 1 :]
    if "," in inside or indent + max(len(inside) + 4, len(rest)) > LINE_LENGTH:
        return None
    return [f"{margin}{text[: opening + 1]}", f"{margin}    {inside}", f"{margin}{rest}"]


def _opened(first: str, items: list[str], last: str, indent: int) -> list[str] | None:
    """One item a line, if they fit, or are usual themselves, or are strings, which can't be divided."""
    margin = " " * (indent + 4)
    lines = [first]
    for item in items:
        line = f"{margin}{item},"
        if len(line) <= LINE_LENGTH or _STRING.fullmatch(item):
            lines.append(line)
            continue
        divided = lay_out_usual(item, indent + 4, ",")
        if divided is None:
            return None
        lines += divided
    return [*lines, last]
