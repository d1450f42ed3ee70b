"""Which arguments carry dispatch keys (c10/core/dispatch/DispatchKeyExtractor.h, from the schema's types)."""

from __future__ import annotations

from .model import BaseType, ListType, OptionalType, Type

TENSORS = frozenset("TOLP")
"""The letters of arguments that are tensors or contain some."""

LISTS = frozenset("LP")
"""The letters of lists of tensors."""


def dispatch_kind(type_: Type) -> str:
    """One letter for what a call reads from an argument of this type.

    `T` Tensor, `O` Tensor?, `L` Tensor[], `P` Tensor?[], `G` Generator or Generator?, `-` nothing. A
    `Tensor[]?` carries nothing, as in c10.
    """
    if isinstance(type_, BaseType):
        return {"Tensor": "T", "Generator": "G"}.get(type_.name, "-")
    if isinstance(type_, OptionalType):
        return {"T": "O", "G": "G"}.get(dispatch_kind(type_.elem), "-")
    if isinstance(type_, ListType):
        return {"T": "L", "O": "P"}.get(dispatch_kind(type_.elem), "-")
    return "-"
