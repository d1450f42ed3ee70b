"""What tests of whole libraries share. A folder beside this has operators, kernels and checks.

The target's files are generated and compiled with the kernels, and the checks, which are tests of pytest, run
in a separate process: what a library registers stays in its process until the end.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from tests.conftest import ROOT
from tests.cpp import written_forms
from tests.cpp.compiling import compile_library, write_files
from tests.forks import COMPILING, run_forked
from torchgen_lite import generate, load

_CHECKS = "checks.py"
# The library whose entries and kernels are made.
WRITTEN = "written_ops"
_HERE = Path(__file__).parent


def check_names(name: str) -> list[str]:
    """The checks of a folder, without importing them: they load the library."""
    return re.findall(r"^def (test_\w+)", (_HERE / name / _CHECKS).read_text(), flags=re.M)


def generated_files(folder: Path) -> dict[str, str]:
    """The files of the target for the project in a folder, by their paths."""
    return generate(load(root=folder), targets=["cpp-torch"])


def run_checks(name: str, folder: Path) -> dict[str, list[str]]:
    """Build the library of a folder, and say what is wrong by each check."""
    shutil.copytree(_HERE / name, folder, dirs_exist_ok=True)
    if name == WRITTEN:
        write_files(folder, {"ops.yaml": written_forms.entries(written_forms.FORMS)})
    files = generated_files(folder)
    write_files(folder, files)
    if name == WRITTEN:
        write_files(folder, {"kernels.cpp": _written_kernels(files)})
    sources = sorted(path for path in files if path.endswith(".cpp"))
    compile_library(
        folder,
        ["kernels.cpp", *sources],
        includes=[folder, folder / "cpp-torch" / "include", _HERE],
    )
    return _outcomes(folder)


def _written_kernels(files: Mapping[str, str]) -> str:
    header = files["cpp-torch/include/wr/kernels.h"]
    return written_forms.kernels(header, written_forms.FORMS)


def _outcomes(folder: Path) -> dict[str, list[str]]:
    options = [
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
        "--junitxml",
        "out.xml",
    ]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    command = ["-m", "pytest", "-q", *options, _CHECKS]
    done = run_forked(command, folder, environment, COMPILING)
    outcomes: dict[str, list[str]] = {}
    for case in ElementTree.parse(folder / "out.xml").iter("testcase"):
        problems = outcomes.setdefault(case.attrib["name"].partition("[")[0], [])
        problems += ["".join(problem.itertext()) for problem in case]
    assert outcomes, done.stdout + done.stderr
    return outcomes
