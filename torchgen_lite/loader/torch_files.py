"""The YAML files of the installed PyTorch, found without importing it (which takes seconds)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic


class TorchFiles(NamedTuple):
    """Where the installed PyTorch keeps its operator files, and its version."""

    native_functions: Path
    tags: Path
    derivatives: Path
    version: str


def find_torch_files() -> tuple[TorchFiles | None, tuple[Diagnostic, ...]]:
    """Locate the files in the `torchgen` package that comes with PyTorch; TG011 if there is none."""
    try:
        spec = importlib.util.find_spec("torchgen")
    except (ImportError, ValueError):
        spec = None
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    for location in locations:
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


def read_torch_stubs() -> tuple[tuple[str, str], ...]:
    """The `.pyi` files that PyTorch itself carries, by their path below `torch/`."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return tuple(
        (path.relative_to(location).as_posix(), path.read_text(encoding="utf-8"))
        for location in locations
        for path in sorted(Path(location).rglob("*.pyi"))
    )


def _version(site: Path) -> str:
    """The version of PyTorch, from the name of its metadata folder (`torch-2.13.0+cpu.dist-info`).

    `importlib.metadata` knows it too, and takes fifteen milliseconds to import.
    """
    for folder in sorted(site.glob("torch-*.dist-info")):
        return folder.name.removeprefix("torch-").removesuffix(".dist-info")
    return ""
