"""Variants that belong together: functional, in-place, out and mutable forms of one signature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import (
    SchemaKind,
)
from torchgen_lite.schema.kind import is_inplace_name
from torchgen_lite.schema.model import bare_type


@dataclass(frozen=True, slots=True)
class FunctionGroup:
    """The variants of one signature; at least one is there."""

    functional: NativeFunction | None = None
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None
    out: NativeFunction | None = None

    def functions(self) -> tuple[NativeFunction, ...]:
        """The variants that are there, functional first."""
        found = (self.functional, self.inplace, self.mutable, self.out)
        return tuple(function for function in found if function is not None)


def base_of(name: str) -> str:
    """The name that all variants share: `add` of `add_` and of `__iadd__`."""
    if not is_inplace_name(name):
        return name.removesuffix("_functional")
    if name.endswith("__"):
        return f"__{name[3:]}"
    return name[:-1]


def signature_key(function: NativeFunction) -> tuple[object, ...]:
    """Equal for variants of one operator (torchgen `FunctionSchema.signature`).

    Out arguments, alias annotations, defaults, returns and overload names do not count; names and
    types of the other arguments do.
    """
    schema = function.func
    arguments = tuple(
        (bare_type(argument.type), argument.name, argument.kwarg_only)
        for argument in schema.arguments
        if not argument.is_out
    )
    return (function.namespace, base_of(schema.base_name), arguments)


def group_functions(functions: Iterable[NativeFunction]) -> tuple[FunctionGroup, ...]:
    """Groups in the order of their first member. A variant that is there twice starts a new group."""
    slots: dict[tuple[object, ...], list[dict[str, NativeFunction]]] = {}
    order: list[dict[str, NativeFunction]] = []
    for function in functions:
        kind = function.func.kind()
        slot = "out" if kind is SchemaKind.scratch else str(kind)
        candidates = slots.setdefault(signature_key(function), [])
        for members in candidates:
            if slot not in members:
                members[slot] = function
                break
        else:
            members = {slot: function}
            candidates.append(members)
            order.append(members)
    return tuple(FunctionGroup(**members) for members in order)
