"""Which arguments carry dispatch keys, by type (c10/core/dispatch/DispatchKeyExtractor.h)."""

from __future__ import annotations

from .model import BaseType, ListType, OptionalType, Type

TENSORS = frozenset("TOLP")
"""The letters of arguments that are or contain tensors."""

LISTS = frozenset("LP")
"""The letters of lists of tensors."""

_BASE = {"Tensor": "T", "Generator": "G"}
_OPTIONAL = {"T": "O", "G": "G"}
_LIST = {"T": "L", "O": "P"}


def dispatch_kind(type_: Type) -> str:
    """One letter for what a call reads from an argument of this type.

    `T` Tensor, `O` Tensor?, `L` Tensor[], `P` Tensor?[], `G` Generator or Generator?, `-` nothing. A
    `Tensor[]?` carries nothing, as in c10.
    """
    if isinstance(type_, BaseType):
        return _BASE.get(type_.name, "-")
    if isinstance(type_, OptionalType):
        return _OPTIONAL.get(dispatch_kind(type_.elem), "-")
    if isinstance(type_, ListType):
        return _LIST.get(dispatch_kind(type_.elem), "-")
    return "-"
