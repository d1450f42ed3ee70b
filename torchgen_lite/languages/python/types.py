"""Types of schemas as Python annotations, whatever a framework calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torchgen_lite.languages.python.signature import ANY, Annotation, optional, sequence, union
from torchgen_lite.loader.sources import blocks_beside
from torchgen_lite.schema.model import BaseType, GenericType, ListType, OptionalType, Type

# One number stands for a fixed-size list of equal ones, as the JIT's broadcasting lists allow.
BROADCASTING = frozenset({"int", "float"})
_CLASS_PREFIX = "__torch__."


def _types_of(rows: str) -> dict[str, Annotation]:
    types = {}
    for row in rows.splitlines():
        name, text = row.split(": ")
        members = map(Annotation, text.split(" | "))
        types[name] = union(*members)
    return types


# What each dialect calls types.
TYPES = {dialect: _types_of(rows) for dialect, rows in blocks_beside(__file__).items()}


class Annotations(NamedTuple):
    """A framework's `names` for types, and what is `accepted` for a type besides its own values.
    `custom_class` is the type of custom class objects; `broadcasting` are further types of which one
    element stands for a list."""

    names: Mapping[str, Annotation]
    accepted: Mapping[str, Annotation] = {}
    custom_class: Annotation = ANY
    broadcasting: frozenset[str] = frozenset()

    def argument(self, type_: Type) -> Annotation:
        """What a caller may pass: `int | Sequence[int] | None` for `int[2]?`."""
        if isinstance(type_, ListType):
            elem = self.argument(type_.elem)
            name = ""
            if isinstance(type_.elem, BaseType):
                name = type_.elem.name
            if type_.size is not None and name in BROADCASTING | self.broadcasting:
                return union(elem, sequence(elem))
            return sequence(elem)
        if isinstance(type_, BaseType) and type_.name in self.accepted:
            return self.accepted[type_.name]
        return self._other(type_, self.argument)

    def returned(self, type_: Type) -> Annotation:
        """What an operator gives back: `list[Tensor]` for `Tensor[]`."""
        if isinstance(type_, ListType):
            return Annotation("list", (self.returned(type_.elem),))
        return self._other(type_, self.returned)

    def _other(self, type_: Type, part: Callable[[Type], Annotation]) -> Annotation:
        if isinstance(type_, OptionalType):
            elem = part(type_.elem)
            return elem if elem == ANY else optional(elem)
        if isinstance(type_, BaseType):
            if type_.name.startswith(_CLASS_PREFIX):
                return self.custom_class
            name = type_.name
            return self.names.get(name, Annotation(name) if "." in name else ANY)
        if isinstance(type_, GenericType):
            is_dict = type_.name == "Dict" and len(type_.args) == 2
            if is_dict:
                return Annotation("dict", tuple(map(part, type_.args)))
            return ANY
        elems = [part(elem) for elem in getattr(type_, "elems", ())]
        return Annotation("tuple", tuple(elems) or (Annotation("()"),))
