"""Views, one or several, with symbolic numbers and without: what PyTorch's functions do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_project
from tests.torch_python.views import ENTRIES, KERNELS, PAIRS, TREATED

pytestmark = pytest.mark.torch


def test_views_are_as_those_of_pytorchs_functions(tmp_path: Path) -> None:
    write_project(tmp_path, ENTRIES, KERNELS)
    assert run_program(tmp_path, "import vw_ops" + PAIRS + TREATED).strip() == "[]"
