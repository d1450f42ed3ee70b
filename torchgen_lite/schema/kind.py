"""How an operator writes its result: torchgen `FunctionSchema.kind`."""

from __future__ import annotations

from enum import Enum
from typing import Literal

# How an operator may be called, in Python and in C++: `variants` of an entry.
Variant = Literal["function", "method"]
VARIANTS: tuple[Variant, ...] = ("function", "method")


class SchemaKind(Enum):
    """How an operator writes its result (torchgen `SchemaKind`)."""

    functional = "functional"
    inplace = "inplace"
    out = "out"
    mutable = "mutable"
    scratch = "scratch"

    def __str__(self) -> str:
        return self.value

    # Members are compared by identity, and Enum's own hash is written in Python.
    __hash__ = object.__hash__


# Names that may be between `__i` and `__`. For `div` in torchgen, Python has `truediv`; both count.
_AUGMENTED = frozenset(
    "add sub mul div mod pow lshift rshift and xor or matmul truediv floordiv".split()
)


def is_inplace_name(base_name: str) -> bool:
    """Whether a name says in-place: `add_` and `__iadd__`, but neither `__and__` nor `__init__`."""
    if not base_name.endswith("_"):
        return False
    if len(base_name) > 4 and base_name.startswith("__") and base_name.endswith("__"):
        return base_name[2] == "i" and base_name[3:-2] in _AUGMENTED
    return True
