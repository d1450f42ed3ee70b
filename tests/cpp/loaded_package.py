"""A package of torch-python that loads what cpp-torch generates for the same operators."""

from __future__ import annotations

from pathlib import Path

from tests.cpp.compiling import compile_library, write_files
from torchgen_lite import generate, load

CONFIG = """\
schema = ["ops.yaml"]
targets = ["cpp-torch", "torch-python"]
output-dir = "generated"

[target.cpp-torch]
folder = "cpp"

[target.torch-python]
load = "_C"
"""


def build_package(folder: Path, entries: str, kernels: str) -> None:
    """Generate both, and compile the library with the kernels."""
    files = {"ops.yaml": entries, "kernels.cpp": kernels, "torchgen_lite.toml": CONFIG}
    write_files(folder, files)
    generated = {f"generated/{path}": text for path, text in generate(load(root=folder)).items()}
    write_files(folder, generated)
    sources = sorted(path for path in generated if path.endswith(".cpp"))
    includes = [folder / "generated" / "cpp" / "include"]
    library = compile_library(folder, ["kernels.cpp", *sources], includes=includes)
    library.rename(folder / "_C.so")
