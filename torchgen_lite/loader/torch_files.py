"""The YAML files of the installed PyTorch, found without importing it (which takes seconds)."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.tags import load_tags


class TorchFiles(NamedTuple):
    """Where the installed PyTorch keeps its operator files, and its version."""

    native_functions: Path
    tags: Path
    derivatives: Path
    version: str

    @property
    def autocast(self) -> Path:
        """The header of PyTorch with the lists of autocast rules."""
        return self.native_functions.parents[4] / "torch/include/ATen/autocast_mode.h"


def find_torch_files() -> tuple[TorchFiles | None, tuple[Diagnostic, ...]]:
    """Locate the files in the `torchgen` package that comes with PyTorch; TG011 if there is none."""
    for location in _find_package("torchgen"):
        packaged = Path(location) / "packaged"
        native = packaged / "ATen" / "native"
        files = TorchFiles(
            native / "native_functions.yaml",
            native / "tags.yaml",
            packaged / "autograd" / "derivatives.yaml",
            _version(Path(location).parent),
        )
        if files.native_functions.is_file() and files.tags.is_file():
            return files, ()
    message = "PyTorch's native_functions.yaml was not found"
    hint = "install PyTorch in this environment, or give `--schema PATH`"
    return None, (Diagnostic("TG011", message, help=hint),)


def read_tags(files: TorchFiles) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """PyTorch's tags with their descriptions."""
    source, unread = read_source(files.tags, files.tags.parent)
    if source is None:
        return {}, unread
    return load_tags(source)


def read_torch_stubs() -> tuple[tuple[str, str], ...]:
    """The `.pyi` files in the installed PyTorch, with their paths below `torch/`."""
    return tuple(
        (path.relative_to(location).as_posix(), path.read_text(encoding="utf-8"))
        for location in _find_package("torch")
        for path in sorted(Path(location).rglob("*.pyi"))
    )


def installed_path() -> list[str]:
    """Python's search path for packages, without the current folder.

    With `python -m` the current folder comes first, but a checked-out branch is not installed.
    """
    here = os.path.realpath(os.curdir)
    return [path for path in sys.path if os.path.realpath(path) != here]


def import_torch() -> Any:
    """The installed PyTorch, even if the current folder has a `torch.py`. Raises ImportError."""
    saved = sys.path[:]
    sys.path[:] = installed_path()
    try:
        return import_module("torch")
    finally:
        sys.path[:] = saved


def _find_package(name: str) -> list[str]:
    """The folders of an installed package; nothing is imported."""
    path = installed_path()
    for finder in sys.meta_path:
        # Finders other than `PathFinder` know packages installed differently (`pip install -e`).
        places = path if finder is PathFinder else None
        spec = finder.find_spec(name, places)
        if spec is not None:
            return list(spec.submodule_search_locations or ())
    return []


def _version(site: Path) -> str:
    """The version of PyTorch, from the name of its metadata folder (`torch-2.13.0+cpu.dist-info`).

    `importlib.metadata` knows it too, but takes fifteen milliseconds to import.
    """
    for folder in sorted(site.glob("torch-*.dist-info")):
        return folder.name.removeprefix("torch-").removesuffix(".dist-info")
    return ""
