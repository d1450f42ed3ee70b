"""Which arguments carry dispatch keys, by type (c10/core/dispatch/DispatchKeyExtractor.h)."""

from __future__ import annotations

from enum import Enum

from .model import BaseType, ListType, OptionalType, Type


class DispatchKind(Enum):
    """What a call reads from an argument; the value is its letter in the signatures of generated code."""

    tensor = "T"
    optional_tensor = "O"
    tensor_list = "L"
    optional_tensor_list = "P"
    generator = "G"
    nothing = "-"

    @property
    def has_tensors(self) -> bool:
        """Whether the argument is or contains tensors."""
        return self not in (DispatchKind.generator, DispatchKind.nothing)

    @property
    def is_list(self) -> bool:
        return self in (DispatchKind.tensor_list, DispatchKind.optional_tensor_list)


_BASE = {"Tensor": DispatchKind.tensor, "Generator": DispatchKind.generator}
_OPTIONAL = {
    DispatchKind.tensor: DispatchKind.optional_tensor,
    DispatchKind.generator: DispatchKind.generator,
}
_LIST = {
    DispatchKind.tensor: DispatchKind.tensor_list,
    DispatchKind.optional_tensor: DispatchKind.optional_tensor_list,
}


def dispatch_kind(type_: Type) -> DispatchKind:
    """What a call reads from an argument of this type; of a `Tensor[]?` nothing, as in c10."""
    if isinstance(type_, BaseType):
        return _BASE.get(type_.name, DispatchKind.nothing)
    if isinstance(type_, OptionalType):
        return _OPTIONAL.get(dispatch_kind(type_.elem), DispatchKind.nothing)
    if isinstance(type_, ListType):
        return _LIST.get(dispatch_kind(type_.elem), DispatchKind.nothing)
    return DispatchKind.nothing
