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

_IMPORT = re.compile(r"from [\w.]+ import (?=\w)")
_NAME_TARGET = re.compile(r"[\w.]+(?:: \w+)? = ")
_TARGET = re.compile(r"return |[\w.]+(?:: [\w.]+(?:\[[\w., \[\]]*\])?)? = ")
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
    head = text.partition("(")[0].partition("[")[0].partition("{")[0]
    opening, bracket = len(head), text[len(head) : len(head) + 1]
    is_signature = head.startswith(("def ", "async def "))
    called = head.rpartition(" ")[2] if is_signature else _called(head)
    if called is None or not bracket or (called and bracket != "("):
        return _without_brackets(text, indent)
    end = len(text) - 1
    if is_signature:
        end = text.rfind(") -> ")
        end = text.rfind("):") if end < 0 else end
    inside, is_asked = text[opening + 1 : end], text[end - 1 : end] == ","
    inside = inside[:-1] if is_asked else inside
    if not is_asked and indent + len(text) + len(tail) <= LINE_LENGTH:
        return None
    if not inside or text[end] != _PAIRS[bracket]:
        return None
    if _is_unusual(inside) and _is_unusual(ONE_TUPLE.sub("()", inside)):
        return None
    items = split_items(inside)
    margin = " " * indent
    first, last = f"{margin}{text[: opening + 1]}", f"{margin}{text[end:]}{tail}"
    if items is None or len(first) > LINE_LENGTH or len(last) > LINE_LENGTH:
        return None
    if not called:
        return _opened(first, items, last, indent) if len(items) > 1 else None
    if len(items) > 1:
        if not is_asked and indent + 4 + len(inside) <= LINE_LENGTH:
            return [first, f"{margin}    {inside}", last]
        return _opened(first, items, last, indent)
    comma = "," if is_signature or is_asked else ""
    if comma and "," in inside:
        return None
    if indent + 4 + len(inside) + len(comma) <= LINE_LENGTH:
        return [first, f"{margin}    {inside}{comma}", last]
    inner = lay_out_usual(inside, indent + 4) if not comma else None
    return None if inner is None else [first, *inner, last]


def _called(head: str) -> str | None:
    """What is called where a statement or an item begins with `head` and a bracket; None if it's something else.

    >>> _called("value = f.g"), _called("return "), _called("if f")
    ('f.g', '', None)
    """
    words = head.split(" ")
    called = words[-1]
    if len(words) == 1:
        name, equals, value = called.rpartition("=")
        called = value if equals and name.isidentifier() else called.lstrip("*@") or called
    elif len(words) == 2 and words[0] == "return":
        pass
    elif len(words) != 3 or words[1] != "=" or not _is_name(words[0]):
        return None
    return called if not called or (_is_name(called) and called not in _NOT_CALLED) else None


def _is_name(text: str) -> bool:
    """Whether a text is a name, with or without dots."""
    return text.replace(".", "_").isidentifier()


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
    names = _IMPORT.match(text)
    if names is not None and text.isascii():
        items = text[names.end() :].split(", ")
        return _opened(f"{margin}{names[0]}(", items, f"{margin})", indent)
    start = 7 if text.startswith("return ") else text.rfind(" = ") + 3
    target, value = text[:start], text[start:]
    if not _is_name(value) or not _NAME_TARGET.fullmatch(target):
        *keys, last = value[:-1].split("[")
        if not last or "," in last or "]" in last or not value.endswith("]"):
            return None
        if not _are_subscripts(keys) or not _TARGET.fullmatch(target):
            return None
        first = f"{margin}{text[: -len(last) - 1]}"
        if len(first) <= LINE_LENGTH >= indent + 4 + len(last):
            return [first, f"{margin}    {last}", f"{margin}]"]
        if ":" not in target or len(keys) > 1:
            return _at_subscript(text, indent, len(text) - len(last) - 2)
    if max(len(target) + 1, len(value) + 4) + indent > LINE_LENGTH:
        return None
    return [f"{margin}{target}(", f"{margin}    {value}", f"{margin})"]


def _are_subscripts(keys: list[str]) -> bool:
    """Whether `a[b][c][` is cut into these: `["a", "b]", "c]"]`."""
    closed = [key[:-1] for key in keys[1:] if key.endswith("]")]
    is_flat = len(closed) == len(keys) - 1 and not any("]" in key for key in closed)
    return is_flat and _is_name(keys[0])


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
    if len(margin) + max(map(len, items)) < LINE_LENGTH:
        return [first, *[f"{margin}{item}," for item in items], last]
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
