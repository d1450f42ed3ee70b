"""examples/torch_ops without C++: the same ops.yaml, with kernels in Python, and every test of the example."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.torch_python.generated import run_python, write_package

pytestmark = pytest.mark.torch
EXAMPLE = ROOT / "examples" / "torch_ops"
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
package = "torch_ops_python"
kernels = ["python_kernels"]
"""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's own package and tests; `torch_ops._C` is there and has nothing in it."""
    folder = tmp_path_factory.mktemp("example")
    # Python has no names outside of every module.
    text = (EXAMPLE / "ops.yaml").read_text().replace("CPU: ::", "CPU: ")
    (folder / "ops.yaml").write_text(text)
    shutil.copy(Path(__file__).parent / "torch_ops" / "python_kernels.py", folder)
    shutil.copytree(EXAMPLE / "tests", folder / "tests")
    shutil.copytree(EXAMPLE / "python" / "torch_ops", folder / "torch_ops")
    (folder / "torch_ops" / "_C.py").touch()
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    write_package(folder)
    return folder


def test_opcheck_gradients_and_compilation(example: Path) -> None:
    """What the example's author wrote, and what is generated from the samples."""
    folders = ("tests", "generated/torch-python/tests")
    done = run_python(example, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout and " passed" in done.stdout


def test_calls_that_type_checkers_accept_work(example: Path) -> None:
    done = run_python(example, "tests/typed_calls.py")
    assert done.returncode == 0, done.stderr
