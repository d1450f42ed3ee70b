"""Where kernels of a backend are found: in its schema files, in a loaded library, in C++ text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from torchgen_lite.cli.backends.verdicts import Kernel, Kernels
from torchgen_lite.cli.session import require
from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.key_tables import CURRENT, dispatch_keys
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.importing.cpp_preprocessor import without_comments
from torchgen_lite.loader.sources import read_bytes, shown_path


class RegularFile(click.Path):
    """An existing regular file: a pipe or a device might never end."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, context)))
        if not path.is_file():
            self.fail(f"`{path}` is not a regular file", param, context)
        return path


input_option = partial(click.option, metavar="FILE", type=RegularFile(exists=True))
_SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".mm", ".h", ".hpp")
_BLOCK = re.compile(r"\bTORCH_LIBRARY_IMPL\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*\)")
_IMPL = re.compile(r'\b(\w+)\s*\.\s*impl\s*\(\s*(?:TORCH_SELECTIVE_NAME\s*\(\s*)?"([^"]+)"')
_NAME = re.compile(r"(?:(\w+)::)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)")


def read_any_text(path: Path) -> str:
    """The text of a foreign file, whatever its bytes. Raises Refused if unreadable or too large."""
    data, found = read_bytes(path, shown_path(path, Path.cwd()))
    require(found)
    return (data or b"").decode("utf-8", "replace")


def loaded_kernels(modules: Sequence[str], project: Config | None = None) -> Kernels:
    """What the installed PyTorch has registered after these imports. Raises Refused."""
    every = registrations_of_torch(modules, project)
    of = {o.name: {key: Kernel(label) for key, label in o.kernels.items()} for o in every}
    return Kernels(of, frozenset(every[0].fallbacks))


def scanned_kernels(folders: Sequence[Path]) -> Kernels:
    """Kernels that `m.impl("name", ...)` registers in `TORCH_LIBRARY_IMPL(aten, KEY, m)` blocks.

    The text is matched, not compiled. A fallback is `m.fallback(...)` in a block for namespace `_`.
    """
    of: dict[str, dict[str, Kernel]] = {}
    fallbacks: set[str] = set()
    keys = set(dispatch_keys(CURRENT))
    for path in _files(folders):
        text = without_comments(read_any_text(path))
        blocks = list(_BLOCK.finditer(text))
        ends = [*(block.start() for block in blocks[1:]), len(text)]
        for block, end in zip(blocks, ends):
            start, (namespace, key, library) = block.start(), block.groups()
            if key not in keys:
                continue
            fallback = re.compile(rf"\b{library}\s*\.\s*fallback\s*\(")
            if namespace == "_" and fallback.search(text, start, end):
                fallbacks.add(key)
            for found in _IMPL.finditer(text, start, end):
                if found[1] == library:
                    name = found[2] if "::" in found[2] else f"{namespace}::{found[2]}"
                    of.setdefault(name, {})[key] = Kernel(path.as_posix())
    return Kernels(of, frozenset(fallbacks))


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        every = [folder] if folder.is_file() else sorted(folder.rglob("*"))
        yield from (path for path in every if path.suffix in _SUFFIXES and path.is_file())


def called_names(text: str) -> set[str]:
    """The names of operators in a log, a profile or an exported graph: `aten::add.Tensor`, `aten.add.Tensor`.

    Graphs write an empty overload name as `aten.relu.default`; so does the result.
    """
    words = set(re.findall(r"\baten(?:::|\.)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", text))
    names = {word.replace("aten.", "aten::", 1) for word in words}
    lines = {line.strip() for line in text.splitlines()}
    return names | {f"aten::{line}" for line in lines if _NAME.fullmatch(line) and "::" not in line}
