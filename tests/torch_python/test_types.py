"""Generated packages and their tests pass `mypy --strict`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.torch_python.generated import run_python, write_package

pytestmark = pytest.mark.torch
PROJECTS = {
    "tl_ops_ops": ROOT / "tests" / "torch_python" / "project",
    "toy_ops": ROOT / "examples" / "torch_backend",
    "torch_ops_python": ROOT / "examples" / "torch_ops",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy knows about torch."""
    return str(tmp_path_factory.mktemp("mypy"))


@pytest.mark.parametrize("package", PROJECTS)
def test_mypy_has_nothing_to_say(tmp_path: Path, cache: str, package: str) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECTS[package], folder, ignore=shutil.ignore_patterns("__pycache__"))
    write_package(folder)
    command = ("-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", cache)
    done = run_python(
        folder, *command, f"generated/torch-python/{package}", "generated/torch-python/tests"
    )
    assert "Success: no issues found" in done.stdout, done.stdout
