"""Packages that are built with hatchling and setuptools, from projects whose generated code is fresh or stale."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchgen_lite.build_hooks import BuildError, bring_up_to_date

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HATCHLING = """\
[build-system]
requires = ["hatchling", "torchgen-lite"]
build-backend = "hatchling.build"
[tool.hatch.build.targets.wheel]
packages = ["tiny"]
[tool.hatch.build.hooks.torchgen-lite]
mode = "{mode}"
"""
SETUPTOOLS = """\
[build-system]
requires = ["setuptools", "torchgen-lite"]
build-backend = "setuptools.build_meta"
[tool.setuptools]
packages = ["tiny", "tiny._ops"]
[tool.setuptools.cmdclass]
build_py = "torchgen_lite.build_hooks.setup_tools.{Mode}First"
"""
PROJECT = """\
[project]
name = "tiny"
version = "0.1"
[tool.torchgen_lite]
schema = "ops.yaml"
output-dir = "."
targets = "python"
[tool.torchgen_lite.target.python]
folder = "."
package = "tiny._ops"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "tiny" / "_ops").mkdir(parents=True)
    (tmp_path / "tiny" / "__init__.py").touch()
    (tmp_path / "ops.yaml").write_text("- func: tiny::relu(Tensor self) -> Tensor\n")
    return tmp_path


def build(project: Path, backend: str, mode: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel, with our entry points, which an installation from before this change need not have."""
    name = "setuptools" if backend is SETUPTOOLS else "hatchling"
    for needed in (name, "pip"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"`{needed}` is not installed")
    text = backend.format(mode=mode, Mode=mode.capitalize())
    (project / "pyproject.toml").write_text(text + PROJECT)
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["hatch"]
    site = project / "site" / "hooks-0.dist-info"
    site.mkdir(parents=True, exist_ok=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks\nVersion: 0\n")
    hooks = "".join(f"{name} = {value}\n" for name, value in data.items())
    (site / "entry_points.txt").write_text(f"[hatch]\n{hooks}")
    flags = ("--no-deps", "--no-build-isolation", "--no-index", "-w", str(project / "dist"))
    command = [sys.executable, "-m", "pip", "wheel", "-v", *flags, str(project)]
    environment = {**os.environ, "PYTHONPATH": f"{site.parent}{os.pathsep}{ROOT}"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("backend", [HATCHLING, SETUPTOOLS], ids=["hatchling", "setuptools"])
def test_a_package_has_generated_code_that_is_fresh(tiny: Path, backend: str) -> None:
    stale = build(tiny, backend, "check")
    assert stale.returncode != 0
    assert "`torchgen-lite check` exits with 1" in stale.stdout + stale.stderr
    made = build(tiny, backend, "generate")
    assert made.returncode == 0, made.stdout + made.stderr
    assert "def relu(" in (tiny / "tiny" / "_ops" / "operators.py").read_text()
    bring_up_to_date(tiny, "check")


def test_what_cannot_be_is_said(tiny: Path) -> None:
    with pytest.raises(BuildError, match="has no configuration"):
        bring_up_to_date(tiny, "check")
    with pytest.raises(BuildError, match="invalid `mode` 'sometimes' of torchgen-lite"):
        bring_up_to_date(tiny, "sometimes")


def test_two_configurations_of_one_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.torchgen_lite]\n")
    (tmp_path / "torchgen_lite.toml").write_text("")
    with pytest.raises(BuildError, match="TG004"):
        bring_up_to_date(tmp_path, "check")
