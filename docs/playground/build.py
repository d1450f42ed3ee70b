"""Builds the playground: `python docs/playground/build.py FOLDER`.

The folder then has the page, the wheel of this project, the packages that it needs, their byte code, and Pyodide, which
`npm ci` in this folder installs. It needs no server but one for files, and loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import files
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder
from playground import Playground, targets

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOOK = ROOT / "torchgen_lite" / "copied" / "docs" / "look.css"
ICON = ROOT / "docs" / "images" / "icon.svg"
MODULES = HERE / "node_modules"
PYODIDE = MODULES / "pyodide"
PAGE = ("index.html", "playground.css", "playground.js", "worker.js", "playground.py")
# The examples, each with the target that is shown first.
EXAMPLES = {"operators": "torch-python", "backend": "cpp-torch", "library": "python"}
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
# Of each, what is written in Python: PyYAML and MarkupSafe work without their extension modules.
PACKAGES = ("click", "Jinja2", "MarkupSafe", "PyYAML")
BUNDLE = (
    str(HERE / "editor.mjs"),
    "--bundle",
    "--minify",
    "--format=esm",
    "--legal-comments=none",
    "--banner:js=// CodeMirror, by Marijn Haverbeke and others, under the MIT license.",
    "--log-level=warning",
)
LOADING = "Loading Python: 16 MB, once ..."
MISSING = "This copy of the site is built without Pyodide; docs/playground/README.md says how to build it with it."
# The operators of PyTorch that entries may refer to, of which we have our own declarations.
NATIVE = "empty empty_strided as_strided view fill_ copy_ add add_ sub sub_ mul mul_ div mm relu relu_ sum mean"


def build(folder: Path) -> None:
    """Write the page; without Pyodide it can only say that it has none."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*(HERE / name for name in PAGE), LOOK, ICON):
        shutil.copy(path, folder)
    (folder / "aten.yaml").write_text(native_entries(), encoding="utf-8")
    (folder / "examples").mkdir(exist_ok=True)
    for name, target in EXAMPLES.items():
        text = json.dumps(answered(folder, name, target))
        (folder / "examples" / f"{name}.json").write_text(text, encoding="utf-8")
    if not PYODIDE.is_dir():
        page = folder / "index.html"
        page.write_text(page.read_text("utf-8").replace(LOADING, MISSING), encoding="utf-8")
        return
    subprocess.run(
        [
            "node",
            MODULES / "esbuild" / "bin" / "esbuild",
            *BUNDLE,
            f"--outfile={folder / 'editor.js'}",
        ],
        check=True,
    )
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


def answered(folder: Path, name: str, target: str) -> dict[str, Any]:
    """An example with its answer, which the page shows before Python has loaded."""
    text = (HERE / "examples" / f"{name}.yaml").read_text("utf-8")
    asked = {"text": text, "target": target, "view": "files", "operator": "", "keys": []}
    answer = json.loads(Playground(str(folder)).answer(json.dumps(asked)))
    return {"text": text, "target": target, "targets": json.loads(targets()), "answer": answer}


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
