"""Blocks of registrations, `TORCH_LIBRARY(...)` and what is like it: their statements by namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.model import Operator


@dataclass(frozen=True, slots=True)
class StatementView:
    """A statement in the block of a library."""

    guard: str
    text: str


@dataclass(frozen=True, slots=True)
class LibraryView:
    """A block of statements for one namespace of operators."""

    opening: str
    statements: tuple[StatementView, ...]


def library_views(
    statements: Iterable[tuple[str, StatementView]], macro: str, key: str = ""
) -> list[LibraryView]:
    """A block for each namespace of the statements: `MACRO(namespace, m) {`, or with a key before `m`."""
    found: dict[str, list[StatementView]] = {}
    for namespace, statement in statements:
        found.setdefault(namespace, []).append(statement)
    rest = f"{key}, m) {{" if key else "m) {"
    return [
        LibraryView(f"{macro}({namespace}, {rest}", tuple(own)) for namespace, own in found.items()
    ]


def definition(operator: Operator, tags: Sequence[str]) -> StatementView:
    """`m.def("add.Tensor(...) -> Tensor");`, with tags as C++ spells them."""
    items = [cpp_text.quote(operator.schema_text)]
    if tags:
        line = cpp_text.call("m.def(", [*items, f"{{{', '.join(tags)}}}"], ");", indent=2)
        if "\n" not in line:
            return StatementView(operator.guard, line)
        # Column 6 is where an argument stands that has a line of its own.
        items.append(cpp_text.braced(list(tags), indent=6, tail=2))
    return StatementView(operator.guard, cpp_text.call("m.def(", items, ");", indent=2))
