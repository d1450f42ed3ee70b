"""What `table` and `why` say of the file of a backend, beside the dispatcher of a process that has its library.

    python -m tests.conformance.backends [--ignore CODE]... [--fallback KEY]... [--folder DIR] FILE...

FILE is a vendor's operator file: PyTorch/XLA's `xla_native_functions.yaml`, op-plugin's `op_plugin_functions.yaml`.
This repository contains none. A library is made of it whose kernels are the stubs that `kernels --missing` writes:
they raise, but nothing calls them. One process says, from the files, every cell of the table of each operator of
PyTorch, and where calls arrive of tensors of the CPU, PrivateUse1 and XLA, with and without autograd. Another one loads
the library, and is asked by `_dispatch_dump_table`.

`--ignore` are codes of errors that concern one entry alone, which is then left out. `--folder` keeps what is built.
The exit code is 1 if anything differs. tests/conformance/README.md has the figures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests import live_tables
from tests.conftest import ROOT
from tests.cpp.compiling import compile_library
from tests.forks import run_forked

CONFIGURATION = """\
schema = {schema}
native = "torch"
targets = ["cpp-torch"]

[target.cpp-torch]
module = ""

[lint]
ignore = {ignore}
"""


def run(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def begin(folder: Path, files: Sequence[Path], ignore: Sequence[str]) -> None:
    """Generate what a backend's files ask for into an empty folder, and write stubs of its kernels."""
    for file in files:
        shutil.copy(file, folder)
    names = [file.name for file in files]
    configuration = CONFIGURATION.format(schema=names, ignore=list(ignore))
    (folder / "torchgen_lite.toml").write_text(configuration)
    (folder / "src").mkdir()
    run(folder, "-m", "torchgen_lite", "generate", "--quiet")
    stubs = ("kernels", "--missing", "--output", "src/stubs.cpp", "--quiet")
    run(folder, "-m", "torchgen_lite", *stubs)


def build(folder: Path) -> Path:
    """The library of what `begin` wrote."""
    sources = sorted(str(path) for path in folder.glob("generated/cpp-torch/src/*.cpp"))
    include = folder / "generated" / "cpp-torch" / "include"
    return compile_library(folder, ["src/stubs.cpp", *sources], includes=[include])


def differences(
    folder: Path, library: Path, fallbacks: Sequence[str] = ()
) -> tuple[list[tuple[object, ...]], int]:
    """What differs between what is said of the project in a folder and its library, and how many cells do not."""
    said = run(folder, "-c", live_tables.SAID, *fallbacks)
    live = run_forked(["-c", live_tables.LIVE, str(library)], folder, os.environ)
    assert live.returncode == 0, live.stderr
    return live_tables.wrong_cells(said, live.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODE")
    parser.add_argument("--fallback", action="append", default=[], metavar="KEY")
    parser.add_argument("--folder", type=Path, metavar="DIR")
    options = parser.parse_args()
    files = [file.resolve() for file in options.files]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if options.folder is None else options.folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        begin(folder, files, options.ignore)
        wrong, alike = differences(folder, build(folder), options.fallback)
    for one in wrong[:20]:
        print(*one, sep="  ")
    print(f"{', '.join(file.name for file in files)}: {alike:,} cells alike, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
