"""C++ statements of which most long lines consist, divided without weighing what each break costs.

A declaration or a call is divided at its one pair of brackets, and a value stands on a line of its own if that
is enough. What is said here is what `cpp.py` says, ten times as fast, as a test holds (Note [Usual statements]);
whatever is not as simple is left to it.
"""

from __future__ import annotations

import re

from torchgen_lite.emit.layout.items import split_items

LINE_LENGTH = 80
# The words before the brackets: no condition, no operator.
_HEAD = re.compile(
    r"(?!(?:if|for|while|switch|else|template|struct|class|case)\b)[\w:&*<>,. ]*?[\w>&*]\("
)
_VALUE = re.compile(r'((?:[\w:&*<>,]+ )+=) ("(?:[^"\\]|\\.)*";|(?!\{)[^="]+;)')
# A function: its type and its name.
_NAMED = re.compile(r"(?!return |throw |new |delete )([\w:&*<>, ]+[\w>&*]) ((?:\w+::)*\w+\()")
_TAIL = re.compile(r"\)( const)?( \{|;|,|\);|\),|)")
_OPERATOR = re.compile(r" [*&<>]+ ")


def lay_out_usual_cpp(text: str, indent: int) -> list[str] | None:
    """The lines of a usual statement that is too long; else None."""
    if indent + len(text) <= LINE_LENGTH:
        return None
    margin = " " * indent
    value = _VALUE.fullmatch(text)
    if value is None:
        return _divided(text, indent, "")
    target, given = value[1], value[2]
    if len(target) + indent > LINE_LENGTH:
        return None
    if indent + 4 + len(given) <= LINE_LENGTH or given[0] == '"':
        return [f"{margin}{target}", f"{margin}    {given}"]
    first = given.find("(")
    if first > 0 and indent + len(target) + 2 + first <= LINE_LENGTH:
        return _divided(given, indent, f"{target} ")
    divided = _divided(given, indent + 4, "")
    return None if divided is None else [f"{margin}{target}", *divided]


def _divided(text: str, indent: int, before: str) -> list[str] | None:
    """At the brackets behind the first word; `before` stands before it."""
    head = _HEAD.match(text)
    if head is None or len(head[0]) <= 4 or _OPERATOR.search(head[0]):
        return None
    tail = _TAIL.fullmatch(text, text.rfind(")") if not text.endswith(");") else len(text) - 2)
    if tail is None:
        return None
    inside = text[head.end() : tail.start()]
    first = f"{' ' * indent}{before}{head[0]}"
    if not inside or _is_unusual(inside):
        return None
    items = split_items(inside, angles=True)
    if items is None:
        return None
    if len(first) > LINE_LENGTH:
        return None if before else _below_type(text, head[0], indent)
    shut = f"{first}{inside})"
    if tail[1] and len(items) > 1 and len(shut) <= LINE_LENGTH:
        return [shut, f"{' ' * (indent + 4)}{tail[0][2:]}"]
    if len(items) == 1 and inside.endswith(")"):
        return None
    return _opened(first, items, tail[0], indent + 4)


def _is_unusual(inside: str) -> bool:
    """Whether what is in brackets is not as simple as it looks; `in` is ten times as fast as a pattern here."""
    is_comparison = "<=" in inside or ">=" in inside or " < " in inside or " > " in inside
    return is_comparison or ",}" in inside or ";" in inside or "->" in inside or "[]" in inside


def _below_type(text: str, head: str, indent: int) -> list[str] | None:
    """A function whose type has lines of its own."""
    named = _NAMED.fullmatch(head)
    if named is None or len(named[2]) <= 4:
        return None
    margin, (type_, name) = " " * indent, named.groups()
    lines: list[str] | None = [f"{margin}{type_}"]
    if indent + len(type_) > LINE_LENGTH:
        outer, _, inside = type_.partition("<")
        items = split_items(inside[:-1], angles=True)
        if items is None or not inside.endswith(">"):
            return None
        lines = _opened(f"{margin}{outer}<", items, ">", indent + 4)
    rest = text[len(head) - len(name) :]
    fits = indent + len(rest) <= LINE_LENGTH
    below = [f"{margin}{rest}"] if fits else _divided(rest, indent, "")
    return None if lines is None or below is None else [*lines, *below]


def _opened(first: str, items: list[str], tail: str, indent: int) -> list[str] | None:
    """One item a line, if all fit."""
    last = items.pop()
    if indent + max(len(last) + len(tail), 1 + max(map(len, items), default=0)) > LINE_LENGTH:
        return None
    margin = " " * indent
    return [first, *[f"{margin}{item}," for item in items], f"{margin}{last}{tail}"]
