"""The Python statements that most long lines are, split without looking at every word.

Note [Usual statements]
A signature, an import, and a value that is a call or a display have one pair of brackets to split
at. The result is the same as that of `python.py`, which a test checks, and ten times faster;
anything less simple is left to `python.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from torchgen_lite.emit.layout.items import STRING, split_items
from torchgen_lite.emit.layout.python_lines import LINE_LENGTH

_IMPORT = re.compile(r"from [\w.]+ import (?=\w)")
_NAME_TARGET = re.compile(r"[\w.]+(?:: \w+)? = ")
_NAME = r"[^\W\d][\w.]*"
# A value with subscripts: the target, all subscripts but the last, and the last, which has no
# comma.
_SUBSCRIPTED = re.compile(
    rf"(return |[\w.]+(?:: [\w.]+(?:\[[\w., \[\]]*\])?)? = ){_NAME}((?:\[[^\[\]]*\])*)\[([^\[\],]+)\]"
)
# The beginning of a call or display, as a statement or item, up to its bracket: the name that is
# called.
_HEAD = re.compile(rf"(?:(?:return |{_NAME}(?:: \w+)? = |\w+=)?({_NAME})?|[*@]+({_NAME}))")
# A one-tuple with a simple item, a name or calls with one argument: its comma does not force a
# split.
_FLAT = r"[^()\[\]{},]*"
_NESTED = rf"(?:\[\w*\]|\({_FLAT}(?:\({_FLAT}\){_FLAT})*\))"
_ONE_TUPLE = re.compile(rf"""(?<![\w\])"'])\({_FLAT}(?:{_NESTED}{_FLAT})*,\)""")
_NOT_CALLED = frozenset("""
    and assert await del elif except for from if import in is lambda not or raise return while with yield
    """.split())
_PAIRS = {"(": ")", "[": "]", "{": "}"}


# The items in brackets, one per line; their number; the length of the longest without its comma.
_List = tuple[str, int, int]


def lay_out_usual(text: str, indent: int, tail: str = "") -> str | None:
    """The lines of a usual statement that is too long, or of an item with a comma as its `tail`; else None."""
    is_block = text.startswith(("def ", "async def ", "class "))
    head = text.partition("(")[0]
    if not is_block:
        head = head.partition("[")[0].partition("{")[0]
    opening = len(head)
    bracket = text[opening : opening + 1]
    if not bracket or (bracket == "[" and not is_block and head[-1:] not in " =*"):
        return _without_brackets(text, indent)
    called = head.rpartition(" ")[2] if is_block else _called(head)
    if called is None or (called and bracket != "("):
        return None
    end = len(text) - 1
    if is_block:
        end = text.rfind(") -> ")
        end = text.rfind("):") if end < 0 else end
    inside, is_asked = text[opening + 1 : end], text[end - 1 : end] == ","
    inside = inside[:-1] if is_asked else inside
    if not is_asked and indent + len(text) + len(tail) <= LINE_LENGTH:
        return None
    if not inside or text[end] != _PAIRS[bracket]:
        return None
    items = _listed(inside)
    margin = " " * indent
    first, last = f"{margin}{text[: opening + 1]}", f"{margin}{text[end:]}{tail}"
    if items is None or len(last) > LINE_LENGTH:
        return None
    if len(first) > LINE_LENGTH:
        return _in_brackets(head[: -len(called)], text[len(head) - len(called) :], indent)
    has_several = items[1] > 1
    if not called:
        return _opened(first, items, last, indent) if has_several else None
    if has_several:
        if not is_asked and indent + 4 + len(inside) <= LINE_LENGTH:
            return f"{first}\n{margin}    {inside}\n{last}"
        return _opened(first, items, last, indent)
    comma = "," if is_asked or (is_block and not head.startswith("class ")) else ""
    if comma and "," in inside:
        return None
    if indent + 4 + len(inside) + len(comma) <= LINE_LENGTH:
        return f"{first}\n{margin}    {inside}{comma}\n{last}"
    inner = lay_out_usual(inside, indent + 4) if not comma else None
    return None if inner is None else f"{first}\n{inner}\n{last}"


def _called(head: str) -> str | None:
    """The name called by a statement or item that begins with `head` and a bracket; None if it
    isn't a call.

    >>> _called("value = f.g"), _called("return "), _called("if f")
    ('f.g', '', None)
    """
    found = _HEAD.fullmatch(head)
    called = (found[1] or found[2] or "") if found is not None else None
    return None if called in _NOT_CALLED else called


def _is_name(text: str) -> bool:
    """Whether a text is a name, with or without dots."""
    return text.replace(".", "_").isidentifier()


# A function, its stub and its overloads have the same parameters.
@lru_cache(maxsize=16_384)
def _listed(inside: str) -> _List | None:
    """The items between commas outside brackets; None if commas and brackets may mean something
    else."""
    if _is_unusual(inside) and _is_unusual(_ONE_TUPLE.sub("()", inside)):
        return None
    items = split_items(inside)
    return None if items is None else (",\n".join(items), len(items), max(map(len, items)))


def _is_unusual(inside: str) -> bool:
    """Whether a list may be unusual; `in` is ten times faster than a pattern here."""
    is_closed = ",)" in inside or ",]" in inside or ",}" in inside
    is_nested = " for " in inside or "lambda" in inside or "** " in inside
    return is_closed or is_nested or not inside.isascii()


def _without_brackets(text: str, indent: int) -> str | None:
    """An import, or a value that is a name, a string or a subscript."""
    if indent + len(text) <= LINE_LENGTH:
        return None
    if text[-1] == "]":
        found = _SUBSCRIPTED.fullmatch(text)
        if found is None:
            return None
        target, others, last = found.groups()
        if ":" not in target or others or indent + len(text) - len(last) <= LINE_LENGTH + 1:
            return _at_subscript(text, indent)
        return _in_brackets(target, text[len(target) :], indent)
    names = _IMPORT.match(text)
    if names is not None:
        items, margin = _listed(text[names.end() :]), " " * indent
        return items and _opened(f"{margin}{names[0]}(", items, f"{margin})", indent)
    named = _NAME_TARGET.match(text)
    value = text[named.end() :] if named is not None else ""
    if named is None or not _is_name(value) and not STRING.fullmatch(value):
        return None
    return _in_brackets(named[0], value, indent)


def _in_brackets(target: str, value: str, indent: int) -> str | None:
    """A value on its own line; a string that does not fit there either stays where it is."""
    margin = " " * indent
    if not target.endswith(" = ") or indent + len(target) >= LINE_LENGTH:
        return None
    if indent + 4 + len(value) <= LINE_LENGTH:
        return f"{margin}{target}(\n{margin}    {value}\n{margin})"
    return f"{margin}{target}{value}" if ":" not in target and STRING.fullmatch(value) else None


def _at_subscript(text: str, indent: int) -> str | None:
    """Split at the last of several subscripts whose bracket fits on the first line."""
    opening, margin = text.rfind("[", 0, LINE_LENGTH - indent), " " * indent
    if opening < 0:
        return None
    following = text.find("[", opening + 1)
    end = following if following >= 0 else len(text)
    inside, rest = text[opening + 1 : end - 1], text[end - 1 :]
    if "," in inside or indent + 4 + len(inside) > LINE_LENGTH:
        return None
    first = f"{margin}{text[: opening + 1]}\n{margin}    {inside}\n{margin}"
    fits = indent + len(rest) <= LINE_LENGTH
    return f"{first}{rest}" if fits else _each_opened(first, rest, indent)


def _each_opened(first: str, rest: str, indent: int) -> str | None:
    """Split the subscripts of a `rest` that is too long, too: black opens each from the last that
    fits."""
    opening, margin = rest.rfind("[", 0, LINE_LENGTH - indent), " " * indent
    keys = rest[opening + 1 : -1].split("][")
    if opening < 0 or "," in rest or indent + 4 + max(map(len, keys)) > LINE_LENGTH:
        return None
    inside = f"\n{margin}][\n{margin}    ".join(keys)
    return f"{first}{rest[: opening + 1]}\n{margin}    {inside}\n{margin}]"


def _opened(first: str, items: _List, last: str, indent: int) -> str | None:
    """One item per line, if each fits, is usual itself, or is a string, which can't be split."""
    margin = " " * (indent + 4)
    lines, _, width = items
    if indent + 4 + width < LINE_LENGTH:
        lines = lines.replace("\n", f"\n{margin}")
        return f"{first}\n{margin}{lines},\n{last}"
    parts = [first]
    for item in lines.split(",\n"):
        fits = indent + 4 + len(item) < LINE_LENGTH or STRING.fullmatch(item)
        part = f"{margin}{item}," if fits else lay_out_usual(item, indent + 4, ",")
        if part is None:
            return None
        parts.append(part)
    return "\n".join([*parts, last])
