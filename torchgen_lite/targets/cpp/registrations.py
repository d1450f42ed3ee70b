"""Files of registrations.

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(::mylib::scale_cpu));
}

Note [One file of registrations]
Every file pays again for the framework headers it includes: five seconds for libtorch's, while a
registration takes a tenth of a second. So there is one file, `register.cpp`, and one for each
device that a build may lack, `register_cuda.cpp`. With shards, each of them is split by operator
name, and the definitions stay in one file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

from torchgen_lite.dialects import cpp_text
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.targets.cpp.layout import Layout, stem
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.output import OutputFile

# The file for registrations that every build has.
REGISTER = "register"


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
    """One `m.impl(...)`: what is registered for an operator under a key, and its condition."""

    operator: Operator
    key: str
    kernel: str
    guard: str

    @property
    def name(self) -> str:
        """The operator's name as a literal."""
        return cpp_text.quote(self.operator.schema.local_name)

    @property
    def file(self) -> str:
        """The name of its file, without shard and extension."""
        return file_of(self.key)


def file_of(key: str) -> str:
    """The file for registrations under a key: its device's own file, if a build may lack the
    device.

    >>> file_of("AutogradCUDA"), file_of("Vulkan"), file_of("CPU"), file_of("CompositeImplicitAutograd")
    ('register_cuda', 'register_vulkan', 'register', 'register')
    """
    devices = [device for device in _DEVICES if key.endswith(device)]
    return f"register_{devices[0].lower()}" if devices else REGISTER


# Devices with a key for each functionality, and devices that are a single key.
_DEVICES = (
    *[backend for backend in CURRENT.backends if backend not in ("CPU", "Meta")],
    *[key for key in CURRENT.of_backends if key not in dict(CURRENT.per_backend)],
)


class BlockView(NamedTuple):
    """What is registered for one namespace of operators under one key."""

    namespace: str
    key: str
    registrations: tuple[GuardedView, ...]


Some = TypeVar("Some", bound=Registration)


def blocks(registrations: Iterable[Registration]) -> list[BlockView]:
    """A block for each namespace and key, sorted by name, so that a new operator moves none."""
    found: dict[tuple[str, str], list[Registration]] = {}
    for one in registrations:
        found.setdefault((one.operator.function.namespace, one.key), []).append(one)
    return [
        BlockView(*place, guarded(own)) for place, own in sorted(found.items(), key=itemgetter(0))
    ]


def definitions(
    operators: Iterable[Operator],
    tag: Callable[[str], str],
    *,
    known_tags: Collection[str] | None = None,
) -> list[LibraryView]:
    """What defines the operators; `tag` says how C++ spells one of the `known_tags`."""
    libraries: dict[str, list[DefinitionView]] = {}
    for operator in operators:
        schema = cpp_text.quote(operator.schema.local_text)
        tags = [t for t in operator.function.tags if known_tags is None or t in known_tags]
        view = DefinitionView(operator.guard, schema, tuple(map(tag, tags)))
        libraries.setdefault(operator.function.namespace, []).append(view)
    return [LibraryView(namespace, guarded(own)) for namespace, own in libraries.items()]


def registration_files(
    libraries: Sequence[LibraryView],
    registrations: Iterable[Some],
    layout: Layout,
    template: str,
    context: Callable[[Sequence[LibraryView], Sequence[Some]], Mapping[str, object]],
) -> Iterator[OutputFile]:
    """The files; see Note [One file of registrations]. `context` is what else the template prints."""
    by_file: dict[str, list[Some]] = {REGISTER: []} if libraries else {}
    for one in registrations:
        by_file.setdefault(stem(one.file, one.operator.shard), []).append(one)
    for name, own in by_file.items():
        defined = libraries if name == REGISTER else ()
        shown = {"libraries": defined, "blocks": blocks(own), **context(defined, own)}
        yield OutputFile(layout.source(f"{name}.cpp"), template, shown)
