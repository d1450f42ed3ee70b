"""What every test may use."""

from __future__ import annotations

import importlib.util
import io
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
# The folders that editable installs of the four distributions put on the path.
FOLDERS = (".", "runtime", "reference", "tools", "generated/python")
SOURCES = [str(ROOT / folder) for folder in FOLDERS]

# How long an example takes is the machine's affair; in CI the examples are the same at each run.
settings.register_profile("project", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("project")


# The variable with a folder for what the processes of one run of tests share; it is gone after the run.
SHARED_FOLDER = "TORCHGEN_LITE_TESTS_FOLDER"


def pytest_configure(config: pytest.Config) -> None:
    """Processes of pytest-xdist find the folder in the environment, which they inherit."""
    if SHARED_FOLDER in os.environ:
        return
    folder = tempfile.TemporaryDirectory(prefix="torchgen_lite_tests_")
    os.environ[SHARED_FOLDER] = folder.name
    config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Tests that hold something against PyTorch need it."""
    if importlib.util.find_spec("torch") is not None:
        return
    skip = pytest.mark.skip(reason="PyTorch is not installed")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(skip)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in parallel, a file's stay in one process: they share what it builds.

    Files go in their order, which has those that compile at the front.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


class Result(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command line in this process."""

    def run_command(*arguments: str) -> Result:
        from torchgen_lite.cli import main

        stdout, stderr = io.StringIO(), io.StringIO()
        code = main(arguments, stdout, stderr)
        return Result(code, stdout.getvalue(), stderr.getvalue())

    return run_command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project, and the current directory in it."""
    (tmp_path / "torchgen_lite.toml").write_text('[target.python]\npackage = "ops"\n')
    (tmp_path / "native_functions.yaml").write_text(
        "- func: relu(Tensor self) -> Tensor\n  variants: function, method\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "TORCHGEN_LITE_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
