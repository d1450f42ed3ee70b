"""Views, one or several, with symbolic numbers and without: what PyTorch's functions do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package
from tests.torch_python.views import ENTRIES, KERNELS, PAIRS, TREATED

pytestmark = pytest.mark.torch
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""


def test_views_are_as_those_of_pytorchs_functions(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    assert run_program(tmp_path, "import vw_ops" + PAIRS + TREATED).strip() == "[]"
