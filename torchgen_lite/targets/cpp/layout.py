"""Where the files of a library go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchgen_lite.targets.cpp.model import shard_count
from torchgen_lite.targets.cpp.selection import default_namespace

if TYPE_CHECKING:
    from torchgen_lite.loader.entry import NativeFunction
    from torchgen_lite.targets.cpp.options import LibraryOptions


@dataclass(frozen=True, slots=True)
class Layout:
    """Where files go: the folders of headers and sources, and how headers are included."""

    root: str
    folder: str
    namespace: str
    shards: tuple[int | None, ...]

    def header(self, name: str) -> str:
        return f"{self.root}/include/{self.folder}/{name}"

    def source(self, name: str) -> str:
        return f"{self.root}/src/{name}"


def library_layout(functions: Sequence[NativeFunction], options: LibraryOptions) -> Layout:
    """Folders by the options, or by the namespace; shards by the number of entries."""
    namespace = options.namespace or default_namespace(functions)
    count = shard_count(functions, options.shards)
    shards = tuple(range(count)) if count > 1 else (None,)
    return Layout(options.folder, namespace.replace("::", "/"), namespace, shards)


def stem(name: str, shard: int | None) -> str:
    """The name of a file without its ending: `operators`, or `operators_3`."""
    return name if shard is None else f"{name}_{shard}"
