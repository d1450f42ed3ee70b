"""Builds the playground: `python docs/playground/build.py FOLDER`.

The folder then has the page, the wheel of this project, the packages that it needs, their byte code, and Pyodide, which
`npm ci` in this folder installs. It needs no server but one for files, and loads nothing from elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import files
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PYODIDE = HERE / "node_modules" / "pyodide"
PAGE = ("index.html", "playground.css", "playground.js", "worker.js", "playground.py")
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
# Of each, what is written in Python: PyYAML and MarkupSafe work without their extension modules.
PACKAGES = ("click", "Jinja2", "MarkupSafe", "PyYAML")
# The operators of PyTorch that entries may refer to, of which we have our own declarations.
NATIVE = "empty empty_strided as_strided view fill_ copy_ add add_ sub sub_ mul mul_ div mm relu relu_ sum mean"


def build(folder: Path) -> None:
    """Write the page; without Pyodide it can only say that it has none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copy(HERE / name, folder)
    shutil.copytree(HERE / "examples", folder / "examples", dirs_exist_ok=True)
    (folder / "aten.yaml").write_text(native_entries(), encoding="utf-8")
    if not PYODIDE.is_dir():
        return
    (folder / "pyodide").mkdir(exist_ok=True)
    for name in RUNTIME:
        shutil.copy(PYODIDE / name, folder / "pyodide")
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    Path(wheel).replace(folder / "torchgen_lite.whl")
    with zipfile.ZipFile(folder / "packages.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in files(package) or ():
                if file.suffix == ".py" or file.name in ("METADATA", "py.typed"):
                    archive.write(str(file.locate()), str(file))
    subprocess.run(["node", HERE / "compile.mjs", folder], check=True)


def native_entries() -> str:
    """Our entries for some of PyTorch's operators."""
    entries = re.split(r"(?m)^(?=- func: )", (ROOT / "native_functions.yaml").read_text("utf-8"))
    names = set(NATIVE.split())
    chosen = [one for one in entries if re.split(r"[.(]", one[8:], maxsplit=1)[0] in names]
    # Formulas are those of the reference operators; that an operator has kernels is true of PyTorch, too.
    return re.sub(
        r"(?m)^  (?!variants|structured|tags|dispatch)\S.*\n(?:    .*\n)*", "", "".join(chosen)
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]))
