"""Types as Python and C++ spell them, and how a schema spells them.

Optional[List[int]]    int[]?
int | None             int?
const Tensor&          Tensor
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .type_names import BASE_TYPES, spelling_of

_LISTS = ("List", "list", "Sequence", "Iterable", "vector", "ArrayRef", "initializer_list")
_OPTIONALS = ("Optional", "optional")
_TUPLES = ("Tuple", "tuple")
# A tuple behind the arrow, which a schema writes as several results.
_RESULTS = "results"
_DICTS = ("Dict", "dict", "Mapping", "map", "unordered_map")
_NAME = re.compile(
    r"\s*(?:const\s+)?([A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]*)*|\.\.\.)"
)
_REFERENCE = re.compile(r"(?:\s*[&*])*")
_MAX_DEPTH = 8


class Foreign(NamedTuple):
    """A type in a schema's spelling, and where it ends in the foreign text."""

    spelling: str
    end: int


def read_foreign_type(text: str, start: int = 0, depth: int = 0) -> Foreign | None:
    """The type at a position in a text, in any spelling; None if no type is recognized."""
    match = _NAME.match(text, start)
    if match is None or depth > _MAX_DEPTH:
        return None
    name = match[1]
    at = match.end()
    opening = re.compile(r"\s*([\[<])").match(text, at)
    base = re.split(r"\.|::", name)[-1]
    if opening is not None and base in (*_LISTS, *_OPTIONALS, *_TUPLES, *_DICTS, "Union", "array"):
        if base in _TUPLES and depth == 0 and "->" in text[:start]:
            base = _RESULTS
        read = _arguments(text, opening.end(), "]" if opening[1] == "[" else ">", depth)
        spelling = None if read is None else _applied(base, read[0])
        if read is None or spelling is None:
            return None
        at = read[1]
    elif name in ("None", "...") or name.isdigit():
        spelling = name
    else:
        spelling = spelling_of(name) or name
        if spelling not in BASE_TYPES and spelling.rstrip("[]?") not in BASE_TYPES:
            return None
    at = _REFERENCE.match(text, at).end()  # type: ignore[union-attr]
    joined = re.compile(r"\s*\|").match(text, at)
    if joined is None:
        return Foreign(spelling, at)
    other = read_foreign_type(text, joined.end(), depth + 1)
    if other is None or "None" not in (spelling, other.spelling):
        return None
    return Foreign(_applied("Union", [spelling, other.spelling]) or "", other.end)


def _arguments(text: str, at: int, closing: str, depth: int) -> tuple[list[str], int] | None:
    """The types between brackets, and where the text continues."""
    types = []
    while True:
        argument = read_foreign_type(text, at, depth + 1)
        if argument is None:
            number = re.compile(r"\s*(\d+)").match(text, at)
            if number is None:
                return None
            argument = Foreign(number[1], number.end())
        types.append(argument.spelling)
        at = len(text) - len(text[argument.end :].lstrip())
        if text[at : at + 1] == closing:
            return types, at + 1
        if text[at : at + 1] != ",":
            return None
        at += 1


def _applied(name: str, types: list[str]) -> str | None:
    """`List` of `int` is `int[]`; None for what no schema can express."""
    first = types[0]
    if name in _LISTS and len(types) == 1:
        return f"{first}[]"
    if name in _OPTIONALS and len(types) == 1:
        return f"{first}?"
    if name in _DICTS and len(types) == 2:
        return f"Dict({types[0]}, {types[1]})"
    if name == "array" and len(types) == 2:
        return f"{first}[{types[1]}]"
    if name == "Union" and len(types) == 2 and "None" in types:
        return f"{types[0] if types[1] == 'None' else types[1]}?"
    if types[1:] == ["..."]:
        return f"{first}[]"
    if "..." in types:
        return None
    if name in _TUPLES and len(set(types)) == 1:
        return f"{first}[{len(types)}]"
    if name in (*_TUPLES, _RESULTS):
        return f"({', '.join(types)})"
    return None
