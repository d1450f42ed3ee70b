"""Zeros in formulas, with kernels in Python and in C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.generated import run_program, write_project
from tests.torch_python.zeros import ENTRIES, IN_CPP, KERNELS, PROGRAM

pytestmark = pytest.mark.torch


def test_zeros_are_of_the_kind_of_the_tensor(tmp_path: Path) -> None:
    write_project(tmp_path, ENTRIES, KERNELS)
    assert run_program(tmp_path, PROGRAM) == ""


@needs_compiler
def test_zeros_are_of_that_kind_in_cpp(tmp_path: Path) -> None:
    build_package(tmp_path, ENTRIES, IN_CPP)
    assert run_program(tmp_path, PROGRAM) == ""
