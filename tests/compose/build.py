"""The library of the matrix, built for each column."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cpp.compiling import compile_library, write_files
from tests.cpp.stable_library import build_library
from torchgen_lite import generate, load

LIBRARY = Path(__file__).parent / "library"
BY_HAND = "custom_op"
COLUMNS = ("torch-python", "cpp-torch", "cpp-torch-stable", BY_HAND)
IN_CPP = {"cpp-torch": "kernels.cpp", "cpp-torch-stable": "stable.cpp"}

_CONFIG = """\
schema = {schema}
targets = {targets}

[target.torch-python]
fakes = ["fakes"]
torchscript = true
"""
_OF_COLUMN = {
    "torch-python": 'kernels = ["kern"]\n',
    "cpp-torch": 'load = "_C"\n[target.cpp-torch]\nfolder = "cpp"\n',
    "cpp-torch-stable": 'load = "_C"\n[target.cpp-torch-stable]\nfolder = "stable"\n',
}


def build(column: str, folder: Path) -> None:
    """What a column imports, in this folder: `tlc_ops`, made from ops.yaml, or what is written by hand."""
    shutil.copytree(LIBRARY, folder, dirs_exist_ok=True)
    if column == BY_HAND:
        shutil.copy(Path(__file__).with_name("by_hand.py"), folder / "tlc_ops.py")
        return
    targets = [column] if column == "torch-python" else [column, "torch-python"]
    schema = ["ops.yaml"] if column == "cpp-torch-stable" else ["ops.yaml", "scalars.yaml"]
    config = _CONFIG.format(schema=schema, targets=targets).replace("'", '"') + _OF_COLUMN[column]
    write_files(folder, {"torchgen_lite.toml": config})
    files = generate(load(root=folder))
    write_files(folder, files)
    if column in IN_CPP:
        generated = sorted(path for path in files if path.endswith(".cpp"))
        _compile(column, folder, [IN_CPP[column], *generated])


def _compile(column: str, folder: Path, sources: list[str]) -> None:
    if column == "cpp-torch-stable":
        build_library(folder, sources)
        return
    library = compile_library(folder, sources, includes=[folder / "cpp" / "include"])
    library.rename(folder / "_C.so")
