"""Blocks of registrations, `TORCH_LIBRARY(...)` and what is like it: their statements by namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.model import Operator

SCHEMA_TEMPLATE = "cpp/register_schema.cpp.j2"
KEY_TEMPLATE = "cpp/register_key.cpp.j2"
View = TypeVar("View")


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """An operator: its schema as a literal, and its tags as C++ spells them."""

    guard: str
    schema: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImplementationView:
    """A kernel of an operator: the operator's name as a literal, and what is registered."""

    guard: str
    name: str
    kernel: str


@dataclass(frozen=True, slots=True)
class LibraryView(Generic[View]):
    """What is registered for one namespace of operators."""

    namespace: str
    statements: tuple[View, ...]


def library_views(statements: Iterable[tuple[str, View]]) -> list[LibraryView[View]]:
    """A block for each namespace of operators."""
    found: dict[str, list[View]] = {}
    for namespace, statement in statements:
        found.setdefault(namespace, []).append(statement)
    return [LibraryView(namespace, tuple(own)) for namespace, own in found.items()]


def definition(operator: Operator, tags: Sequence[str]) -> DefinitionView:
    """The definition of an operator, with tags as C++ spells them."""
    return DefinitionView(operator.guard, cpp_text.quote(operator.schema_text), tuple(tags))


def implementation(operator: Operator, kernel: str, guard: str) -> ImplementationView:
    """The registration of a kernel, which is a C++ expression."""
    return ImplementationView(guard, cpp_text.quote(operator.schema.local_name), kernel)
