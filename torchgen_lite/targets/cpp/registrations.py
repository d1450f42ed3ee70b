"""Files of registrations: `register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use.

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(::mylib::scale_cpu));
}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.layout import Layout, stem
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.output import OutputFile


class DefinitionView(NamedTuple):
    """An operator: its schema as a literal, and its tags as C++ spells them."""

    guard: str
    schema: str
    tags: tuple[str, ...]


class GuardedView(NamedTuple):
    """Neighbours with one condition, which is written once for all of them."""

    guard: str
    parts: tuple[Any, ...]


def guarded(parts: Iterable[Any]) -> tuple[GuardedView, ...]:
    """The parts, each of which has a `guard`, in their order."""
    return tuple(
        [GuardedView(guard, tuple(own)) for guard, own in groupby(parts, attrgetter("guard"))]
    )


class LibraryView(NamedTuple):
    """The definitions for one namespace of operators."""

    namespace: str
    definitions: tuple[GuardedView, ...]


@dataclass(frozen=True, slots=True)
class Registration:
    """One `m.impl(...)`: what is registered for an operator under a key, and the condition of that."""

    operator: Operator
    key: str
    kernel: str
    guard: str

    @property
    def name(self) -> str:
        """The operator's name as a literal."""
        return cpp_text.quote(self.operator.schema.local_name)


class BlockView(NamedTuple):
    """What is registered for one namespace of operators under one key."""

    namespace: str
    key: str
    registrations: tuple[GuardedView, ...]


Some = TypeVar("Some", bound=Registration)


def blocks(registrations: Iterable[Registration]) -> list[BlockView]:
    """A block for each namespace and key, in the order of the first registrations."""
    found: dict[tuple[str, str], list[Registration]] = {}
    for one in registrations:
        found.setdefault((one.operator.function.namespace, one.key), []).append(one)
    return [BlockView(namespace, key, guarded(own)) for (namespace, key), own in found.items()]


def schema_file(
    operators: Sequence[Operator],
    layout: Layout,
    tag: Callable[[str], str],
    context: Mapping[str, object],
    template: str = "cpp/register_schema.cpp.j2",
    *,
    known_tags: Collection[str] | None = None,
) -> Iterator[OutputFile]:
    """The definitions of the operators, if there are any; `tag` says how C++ spells one of the `known_tags`."""
    libraries: dict[str, list[DefinitionView]] = {}
    for operator in operators:
        schema = cpp_text.quote(operator.schema.local_text)
        tags = [t for t in operator.function.tags if known_tags is None or t in known_tags]
        view = DefinitionView(operator.guard, schema, tuple(map(tag, tags)))
        libraries.setdefault(operator.function.namespace, []).append(view)
    if libraries:
        path = layout.source("register_schema.cpp")
        shown = [LibraryView(namespace, guarded(own)) for namespace, own in libraries.items()]
        yield OutputFile(path, template, {"libraries": shown, **context})


def key_files(
    registrations: Iterable[Some],
    layout: Layout,
    macro: str,
    context: Callable[[Sequence[Some]], Mapping[str, object]],
    template: str = "cpp/register_key.cpp.j2",
    *,
    beside: Collection[str] = (),
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it; `context` is what else its template prints.

    A file has another name for the keys that have one of generated kernels `beside` it.
    """
    by_file: dict[str, list[Some]] = {}
    for one in registrations:
        name = f"register_{one.key.lower()}" + ("_written" if one.key in beside else "")
        by_file.setdefault(stem(name, one.operator.shard), []).append(one)
    for name, own in by_file.items():
        path = layout.source(f"{name}.cpp")
        yield OutputFile(path, template, {"macro": macro, "blocks": blocks(own), **context(own)})
