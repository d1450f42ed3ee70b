"""How an operator writes its result: torchgen `FunctionSchema.kind`."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from .model import Argument

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


def find_kind(base_name: str, written: tuple[Argument, ...]) -> SchemaKind:
    """The kind: in-place by name, then by out arguments, then by any other written argument.

    torchgen does not look at `self` in the last step, so it calls
    `foo(Tensor(a!) self) -> Tensor(a!)` functional; here it is `mutable`.
    """
    if is_inplace_name(base_name):
        return SchemaKind.inplace
    if not written:
        return SchemaKind.functional
    out = [argument for argument in written if argument.is_out]
    if any(argument.name.startswith("_scratch_") for argument in out):
        return SchemaKind.scratch
    return SchemaKind.out if out else SchemaKind.mutable
