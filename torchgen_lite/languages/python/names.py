"""Names in generated Python: reserved words, and names that would be shadowed."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterable
from functools import cache

from torchgen_lite.schema.grouped import HasName

# Type names that annotations use. An operator or argument with such a name (`complex`, `layout`)
# hides the type, so the annotation uses an alias (`_complex`), which the file imports.
BUILTIN_TYPES = frozenset({"bool", "complex", "dict", "float", "int", "list", "str", "tuple"})
FRAMEWORK_TYPES = frozenset(
    "Generator Number Storage Stream Tensor device dtype layout memory_format".split()
)


def is_reserved(name: str) -> bool:
    """Whether Python reserves a name, so that generated code cannot define it."""
    return keyword.iskeyword(name) or name == "__debug__"


@cache
def identifier(name: str) -> str:
    """`name` as a Python identifier: reserved words get an underscore (`from_`), and characters
    that are not allowed become underscores.

    >>> identifier("from"), identifier("dim"), identifier("c10d.Work")
    ('from_', 'dim', 'c10d_Work')
    """
    if name.isidentifier():
        return name + "_" if is_reserved(name) else name
    name = re.sub(r"\W", "_", name)
    return name if name.isidentifier() else "_" + name


def identifiers(values: Iterable[HasName]) -> list[str]:
    """What the values are called in Python."""
    return [identifier(value.name) for value in values]


def clash(names: Iterable[tuple[str, Container[str]]], arguments: Iterable[HasName]) -> str:
    """Why Python calls an operator, or one of its arguments, as it calls another one; empty if it does not. Each name stands
    beside those that others have.

    >>> clash([("f.from", {"f.from", "f.from_"})], [])
    'is called `f.from_` in Python, as another is'
    """
    for name, taken in names:
        written = ".".join(map(identifier, name.split(".")))
        if written != name and written in taken:
            return f"is called `{written}` in Python, as another is"
    seen = set()
    for written in identifiers(arguments):
        if written in seen:
            return f"has two arguments that are called `{written}` in Python"
        seen.add(written)
    return ""


def overload_attribute(overload_name: str) -> str:
    """The attribute of `ops.aten.add` for an overload: `Tensor`; `default` for the empty name."""
    if overload_name:
        return identifier(overload_name)
    return "default"


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with underscores prepended until it is not taken."""
    while name in taken:
        name = f"_{name}"
    return name
