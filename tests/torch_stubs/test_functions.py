"""The functions of target `torch-python` for each operator of PyTorch, compared with the stubs of `torch.ops`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forks import run_forked
from tests.torch_stubs.checkers import run_mypy
from torchgen_lite import load
from torchgen_lite.pipeline import generate

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def package(copies: Path) -> Path:
    for path, text in generate(load(root=copies), targets=["torch-python"]).items():
        (copies / path).parent.mkdir(parents=True, exist_ok=True)
        (copies / path).write_text(text)
    return copies / "torch-python" / "copy_ops"


def test_every_call_is_one_that_the_operator_takes(
    package: Path, python: Path, mypy_cache: Path
) -> None:
    assert run_mypy(python, str(package), cache=mypy_cache) == ""


def test_every_schema_is_one_that_pytorch_registers(package: Path) -> None:
    """Before 2.13, operators that write to arguments get `_copying_` operators, which are not counted."""
    program = (
        "import copy_ops.functions, torch\n"
        "names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith('copy::')]\n"
        "names = [n for n in names if not n.startswith('copy::_copying_')]\n"
        "print(len(copy_ops.functions.__all__), len(names))"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = run_forked(["-W", "error", "-c", program], ROOT, environment)
    count = len(load(root=package.parents[1]).functions)
    assert count > 2500
    assert done.stdout == f"{count} {count}\n", done.stderr
