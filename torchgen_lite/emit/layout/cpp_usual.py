"""The C++ statements that most long lines are, broken without weighing the cost of each break.

A declaration or a call is broken at its one pair of brackets, and a value goes on its own line if
that is enough. The result is the same as that of `cpp.py`, which a test checks, and a hundred times
faster (Note [Usual statements]); anything less simple is left to `cpp.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from torchgen_lite.emit.layout.items import split_items

LINE_LENGTH = 80
# Words that do not begin with an operator, and a statement with one pair of brackets after such
# words. With `\w`, the character sets would be ten times slower.
_NAME = "A-Za-z0-9_:"
_WORDS = rf"(?:[{_NAME}][{_NAME}&*<>,.]* )*[{_NAME}][{_NAME}&*<>,.]*"
_CALL = re.compile(rf"((?!(?:else|struct|class|case) ){_WORDS}\()(.+)(\)(?: const)?(?: \{{|[;,]|))")
_VALUE = re.compile(rf'({_WORDS} =) ("[^"\\]*(?:\\.[^"\\]*)*";|(?!\{{)[^="]+;)')
# A function's type and name.
_NAMED = re.compile(r"(?!return |throw |new |delete )([\w:&*<>, ]+[\w>&*]) ((?:\w+::)*\w+\()")
# A list without operators, and items one of which has a comma in brackets.
_PLAIN = re.compile(rf"[{_NAME}&*, .=<>{{}}]+")
_NESTED = re.compile(r"[(\[{<][^()\[\]{}<>]*, ")
_TEXT = re.compile(r'"[\w ]*"')
# A parameter whose default is a name.
_DEFAULT = re.compile(r"([^=]+ =) ([\w:]+(?:,|\)(?: \{|;|)))")
_UNUSUAL = ("<=", ">=", " < ", " > ", "->", "[]", ";", '"', "'")


class _List(NamedTuple):
    """The items in brackets, one per line; `width` is the longest line but the last, with its
    comma."""

    lines: str
    number: int
    width: int
    last: int


def lay_out_usual_cpp(text: str, indent: int) -> str | None:
    """A usual statement that is too long, broken into lines; None for anything else."""
    if indent + len(text) <= LINE_LENGTH:
        return None
    found = _CALL.fullmatch(text)
    if found is not None:
        return _divided(found[1], found[2], found[3], indent)
    found = _VALUE.fullmatch(text)
    if found is None:
        return None
    target, value = found.groups()
    first = f"{' ' * indent}{target}"
    if len(first) > LINE_LENGTH:
        return None
    if indent + 4 + len(value) <= LINE_LENGTH or value[0] == '"':
        return f"{first}\n{' ' * indent}    {value}"
    found = _CALL.fullmatch(value)
    if found is None:
        return None
    head, inside, tail = found.groups()
    if len(first) + 1 + len(head) <= LINE_LENGTH:
        return _divided(head, inside, tail, indent, f"{target} ")
    if indent + 4 + len(head) > LINE_LENGTH and target.startswith("using "):
        return _function_type(first, head, inside, tail, indent)
    below = _divided(head, inside, tail, indent + 4)
    return None if below is None else f"{first}\n{below}"


def _divided(head: str, inside: str, tail: str, indent: int, before: str = "") -> str | None:
    """Break at the brackets between head and tail; `before` precedes them."""
    items = _listed(inside)
    if items is None or len(head) <= 4:
        return None
    first = f"{' ' * indent}{before}{head}"
    if len(first) > LINE_LENGTH:
        return None if before else _below_type(head, f"{inside}{tail}", indent)
    if " const" in tail and items.number > 1 and len(first) + len(inside) < LINE_LENGTH:
        return f"{first}{inside})\n{' ' * indent}    {tail[2:]}"
    if items.number == 1 and inside[-1] == ")":
        return None
    return _opened(first, items, tail, indent + 4)


def _below_type(head: str, rest: str, indent: int) -> str | None:
    """A function whose type is on separate lines."""
    named = _NAMED.fullmatch(head)
    if named is None or len(named[2]) <= 4:
        return None
    type_, name = named.groups()
    above: str | None = f"{' ' * indent}{type_}"
    if indent + len(type_) > LINE_LENGTH:
        above = _at_angles(" " * indent, type_, indent)
    below: str | None = f"{' ' * indent}{name}{rest}"
    if indent + len(name) + len(rest) > LINE_LENGTH:
        below = lay_out_usual_cpp(f"{name}{rest}", indent)
    return None if above is None or below is None else f"{above}\n{below}"


def _at_angles(before: str, type_: str, indent: int) -> str | None:
    """A type with one template argument per line."""
    outer, _, inside = type_.partition("<")
    items = _listed(inside[:-1]) if inside[-1:] == ">" else None
    return None if items is None else _opened(f"{before}{outer}<", items, ">", indent + 4)


def _function_type(first: str, head: str, inside: str, tail: str, indent: int) -> str | None:
    """The type of a function whose result has several lines."""
    above, items = _at_angles(f"{first} ", head[:-1], indent), _listed(inside)
    if above is None or items is None:
        return None
    whole = f"{above}({inside}{tail}"
    fits = len(whole) - len(above) + len(above.rpartition("\n")[2]) <= LINE_LENGTH
    return whole if fits else _opened(f"{above}(", items, tail, indent + 4)


def _opened(first: str, items: _List, tail: str, indent: int) -> str | None:
    """One item per line, with a default on the next line if both do not fit."""
    lines: str | None = items.lines + tail
    room = LINE_LENGTH - indent
    if max(items.width, items.last + len(tail)) > room:
        lines = _defaults_below(f"{items.lines}{tail}".split("\n"), room)
    if lines is None:
        return None
    margin = "\n" + " " * indent
    lines = lines.replace("\n", margin)
    return f"{first}{margin}{lines}"


def _defaults_below(lines: list[str], room: int) -> str | None:
    for i, line in enumerate(lines):
        if len(line) > room:
            found = _DEFAULT.fullmatch(line)
            if found is None or max(len(found[1]), len(found[2]) + 4) > room:
                return None
            lines[i] = f"{found[1]}\n    {found[2]}"
    return "\n".join(lines)


# The declaration of a function and its definition have the same parameters.
@lru_cache(maxsize=16_384)
def _listed(inside: str) -> _List | None:
    """The items between commas outside brackets; None if the text is less simple than it looks."""
    plain = _TEXT.sub("text", inside) if '"' in inside else inside
    if ",}" in plain or not _PLAIN.fullmatch(plain) and any(map(plain.__contains__, _UNUSUAL)):
        return None
    is_nested = "(" in plain or ")" in plain or _NESTED.search(plain)
    items = split_items(inside, angles=True) if is_nested else inside.split(", ")
    if items is None:
        return None
    width = max(map(len, items[:-1]), default=-1) + 1
    return _List(",\n".join(items), len(items), width, len(items[-1]))
