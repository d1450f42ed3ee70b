"""Where the files of a library go, and what they include.

Note [Copied headers]
Headers that are the same in each library are ordinary headers in `copied/`, which a compiler and an editor open as
they are. One line of each, `#define TORCHGEN_LITE_NAMESPACE mylib`, gets the namespace of the library. It follows the
includes, and the macro ends with the header, so headers of several libraries can stand in one file. The copies have to
differ: to GCC, `#pragma once` is about files of the same text and time, wherever they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.targets.cpp.options import MANY_OPERATORS, LibraryOptions, ModuleOptions
from torchgen_lite.targets.options import Shards, default_namespace, home_namespace, shards_of
from torchgen_lite.targets.output import Files, Header, OutputFile

NAMESPACE_HEADER = "namespace.h"
Blocks = Sequence[Sequence[Header]]
"""What a file includes, in blocks with an empty line between them."""


class Layout(NamedTuple):
    """Where files go: the folders of headers and sources, and how headers are included. The author's `classes` are types
    of schemas, which `headers` declare. `given` is the macro for a namespace of operators that the build gives.
    """

    root: str
    folder: str
    namespace: str
    shards: Shards
    classes: Mapping[CType, CType] = MappingProxyType({})
    headers: tuple[str, ...] = ()
    given: Mapping[str, str] = MappingProxyType({})

    def header(self, name: str) -> str:
        return f"{self.root}/include/{self.folder}/{name}"

    def own(self, name: str) -> Header:
        """A header of the library, as it is included."""
        return Header(f"{self.folder}/{name}")

    def source(self, name: str) -> str:
        return f"{self.root}/src/{name}"

    @property
    def given_namespace(self) -> list[Header]:
        """The header with the namespace that the build gives, if it gives one."""
        return [self.own(NAMESPACE_HEADER)] if self.given else []

    def opening(self, macro: str) -> str:
        """What opens a block of registrations: libtorch's macro, or one that expands the namespace first."""
        return f"TORCHGEN_LITE_{macro}" if self.given else macro


def library_layout(functions: Sequence[NativeFunction], options: LibraryOptions) -> Layout:
    """Folders by the options, or by the namespace; shards by the number of entries."""
    namespace = options.namespace or default_namespace(functions)
    shards = shards_of(functions, options.shards, MANY_OPERATORS)
    return Layout(options.folder, namespace.replace("::", "/"), namespace, shards)


def module_layout(functions: Sequence[NativeFunction], options: ModuleOptions) -> Layout:
    """The layout of a library whose build may give the namespace of its operators."""
    layout = library_layout(functions, options)
    if not options.namespace_macro:
        return layout
    return layout._replace(given={home_namespace(functions): options.namespace_macro})


def namespace_header(layout: Layout, library: str) -> Files:
    """`namespace.h`, if the build may give the namespace; `library` begins the names of libtorch's macros."""
    for namespace, macro in layout.given.items():
        context = {"namespace": namespace, "macro": macro, "library": library}
        yield OutputFile(layout.header(NAMESPACE_HEADER), "cpp/namespace.h.j2", context)


def stem(name: str, shard: int | None) -> str:
    """The name of a file without its ending: `operators`, or `operators_3`."""
    return name if shard is None else f"{name}_{shard}"


def copied_files(layout: Layout, folder: str, *names: str) -> Files:
    """Copies of headers and sources of a folder of `copied/`; see Note [Copied headers]."""
    defines = {"TORCHGEN_LITE_NAMESPACE": layout.namespace}
    for name in names:
        place = layout.header(name) if name.endswith(".h") else layout.source(name)
        yield OutputFile(place, f"copied/{folder}/{name}", defines)


class HasGuard(Protocol):
    """An operator, or a registration of one."""

    @property
    def guard(self) -> str: ...


def version_header(guarded: Iterable[HasGuard], layout: Layout) -> list[Header]:
    """The header with what conditions of the preprocessor ask for, if there are any."""
    return [layout.own("version.h")] if any(part.guard for part in guarded) else []


def include_blocks(
    headers: Iterable[str], *, before: Sequence[Header] = (), after: Sequence[Header] = ()
) -> list[Sequence[Header]]:
    """Blocks of headers: those with a folder, then those of the standard library.

    >>> [[one.name for one in block] for block in include_blocks({"vector", "toy/span.h", "cstdint"})]
    [['toy/span.h'], ['cstdint', 'vector']]
    """
    known = [*map(Header, sorted(set(headers)))]
    with_folder = [header for header in known if "/" in header.name]
    standard = [header for header in known if "/" not in header.name]
    return [block for block in (before, with_folder, standard, after) if block]
