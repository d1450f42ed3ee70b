"""What the installed PyTorch has: its YAML files, found without importing it (which takes seconds), its stub
files, and the operators in its dispatcher.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Source, errors_among
from torchgen_lite.loader.entry.reader import EntryReader
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, ScalarNode, read_yaml
from torchgen_lite.schema import FunctionSchema, parse_schema


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


def find_torch_files() -> tuple[TorchFiles | None, Diagnostics]:
    """Locate the files in the `torchgen` package that comes with PyTorch; TG011 if there is none."""
    for location in _find_package("torchgen"):
        packaged = Path(location) / "packaged"
        native = packaged / "ATen" / "native"
        # `importlib.metadata` knows the version too, but takes fifteen milliseconds to import.
        metadata = sorted(Path(location).parent.glob("torch-*.dist-info"))
        version = metadata[0].name[len("torch-") : -len(".dist-info")] if metadata else ""
        files = TorchFiles(
            native / "native_functions.yaml",
            native / "tags.yaml",
            packaged / "autograd" / "derivatives.yaml",
            version,
        )
        if files.native_functions.is_file() and files.tags.is_file():
            return files, ()
    return None, (
        Diagnostic(
            "TG011",
            "PyTorch's native_functions.yaml was not found",
            help="install PyTorch in this environment, or give `--schema PATH`",
        ),
    )


def read_tags(files: TorchFiles) -> tuple[dict[str, str], Diagnostics]:
    """PyTorch's tags with their descriptions."""
    source, unread = read_source(files.tags, files.tags.parent)
    return ({}, unread) if source is None else load_tags(source)


def load_tags(source: Source) -> tuple[dict[str, str], Diagnostics]:
    """The tags of a tags.yaml with their descriptions, in the order of the file."""
    node, problems = read_yaml(source)
    diagnostics = list(problems)
    tags: dict[str, str] = {}
    if node is None:
        return tags, tuple(diagnostics)
    if not isinstance(node, ListNode):
        EntryReader(source, diagnostics).report("TG101", "not a list of tags", node, "here")
        return tags, tuple(diagnostics)
    for item in node.items:
        reader = EntryReader(source, diagnostics, node=item)
        for name, (key, _) in reader.fields.items():
            reader.choice("TG102", "field", name, key, ("tag", "desc"))
        if not isinstance(item, MapNode):
            reader.report("TG101", "a tag must be a mapping", item, "here")
        elif "tag" not in reader.fields:
            reader.report("TG104", "an entry without `tag`", item, "here")
        elif isinstance(named := reader.fields["tag"][1], ScalarNode) and not named.is_null:
            tags[named.value] = " ".join((reader.text("desc") or "").split())
        else:
            reader.wrong_type("tag", named, "a name")
    return tags, tuple(diagnostics)


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


class InstalledTorch(NamedTuple):
    """Every schema in the dispatcher of the installed PyTorch, sorted by name, and its stub files.

    A stub file is a path below `torch/` and a text.
    """

    operators: tuple[FunctionSchema, ...]
    stubs: tuple[tuple[str, str], ...]


# PyTorch's C++ and Python register a fifth of its operators by hand (`quantized::`, `prims::`,
# `_c10d_functional::` ...), so only PyTorch itself can list them. It runs in a separate process, because
# importing it takes seconds and hundreds of megabytes. Otherwise Python puts the current folder first on its
# path (`-P` is new in Python 3.11).
_SCRIPT = """
import sys
sys.path[:] = sys.argv[1:]
import torch
names = set(torch._C._dispatch_get_all_op_names())
for schema in torch._C._jit_get_all_schemas():
    name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    if name in names:
        print(str(schema).replace("\\n", " "))
"""


def load_installed_torch() -> tuple[InstalledTorch | None, Diagnostics]:
    """The operators and stub files of the installed PyTorch; TG011 if it can't be asked."""
    # Imported here: most runs do not ask PyTorch.
    import subprocess

    command = [sys.executable, "-c", _SCRIPT, *installed_path()]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if result.returncode != 0:
        last_line = result.stderr.strip().rpartition("\n")[2]
        return None, (
            Diagnostic(
                "TG011",
                "the operators of the installed PyTorch cannot be read",
                help=last_line or "check that `import torch` works",
            ),
        )
    parsed = [parse_schema(line) for line in sorted(set(result.stdout.splitlines()))]
    schemas = tuple(schema for schema, _ in parsed if schema is not None)
    errors = tuple([d for _, problems in parsed for d in errors_among(problems)])
    stubs = tuple(
        (path.relative_to(location).as_posix(), path.read_text(encoding="utf-8"))
        for location in _find_package("torch")
        for path in sorted(Path(location).rglob("*.pyi"))
    )
    return InstalledTorch(schemas, stubs), errors
