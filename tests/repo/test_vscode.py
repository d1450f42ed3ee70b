"""The extension for VS Code: its own tools package it, and what they made is tested where it is unpacked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchgen_lite.schema import BASE_TYPES
from torchgen_lite.version import __version__

FOLDER = ROOT / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())


def test_it_is_of_this_version() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    assert MANIFEST["version"] == lock["version"] == __version__
    packages = [one for path, one in lock["packages"].items() if path]
    assert packages and all("integrity" in one and "resolved" not in one for one in packages)


def test_it_colors_every_type() -> None:
    grammar = json.loads((FOLDER / "syntaxes" / "schema.tmLanguage.json").read_text())
    [types] = [
        one["match"]
        for one in grammar["repository"]["schema"]["patterns"]
        if one.get("name", "").startswith("support.type")
    ]
    named = re.findall(r"\w+", types.rpartition("(?:")[2].partition(")")[0])
    assert named == sorted(BASE_TYPES - {"None"})


@pytest.mark.tools
@pytest.mark.skipif(
    shutil.which("npm") is None or not (FOLDER / "node_modules").is_dir(),
    reason="needs Node.js, and `npm ci` in editors/vscode",
)
def test_what_is_packaged_works(tmp_path: Path) -> None:
    pytest.importorskip("torchgen_lite_tools")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "torchgen-lite"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchgen_lite "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "EXTENSION": str(tmp_path / "extension"),
    }
    package = tmp_path / "torchgen-lite.vsix"
    for script in (["package", "--", "--out", str(package)], ["test"]):
        done = subprocess.run(
            ["npm", "run", *script],
            cwd=FOLDER,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        # What is tested is what was packaged.
        with zipfile.ZipFile(package) as archive:
            archive.extractall(tmp_path)
    assert (tmp_path / "extension" / MANIFEST["icon"]).is_file()
    assert (tmp_path / "extension" / "LICENSE.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
