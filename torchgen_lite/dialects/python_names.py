"""Names in generated Python: reserved words, names that would be shadowed."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container
from functools import cache

# Names that an annotation may use. An operator or argument of such a name (`complex`, `layout`) hides the
# type, so the annotation then says `_complex`, which the file imports under that name.
BUILTIN_TYPES = frozenset({"bool", "complex", "dict", "float", "int", "list", "str", "tuple"})
FRAMEWORK_TYPES = frozenset(
    {
        "Generator",
        "Number",
        "Storage",
        "Stream",
        "Tensor",
        "device",
        "dtype",
        "layout",
        "memory_format",
    }
)


def is_reserved(name: str) -> bool:
    """Whether a name has a meaning in Python, so that nothing else can have it."""
    return keyword.iskeyword(name) or name == "__debug__"


@cache
def identifier(name: str) -> str:
    """`name` as a Python identifier: reserved words get an underscore (`from_`), other signs become one.

    >>> identifier("from"), identifier("dim"), identifier("c10d.Work")
    ('from_', 'dim', 'c10d_Work')
    """
    if name.isidentifier():
        return name + "_" if is_reserved(name) else name
    name = re.sub(r"\W", "_", name)
    return name if name.isidentifier() else "_" + name


def overload_attribute(overload_name: str) -> str:
    """The attribute under which `ops.aten.add` shows an overload: `Tensor`, `default` for the empty name."""
    return identifier(overload_name) if overload_name else "default"


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with underscores before it as long as something else has it."""
    while name in taken:
        name = f"_{name}"
    return name
