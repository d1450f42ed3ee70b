"""examples/torch_classes: what its README says, from the build to the demonstration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.torch_ops import (
    EXAMPLE,
    TOGETHER,
    configure,
    copy_example,
    needs_cmake,
    run,
    run_python,
)

PRINTED = """\
tensor([[ 0.1000, -1.0000],
        [ 0.3000, -1.0000]])
tensor([0.0000, 0.1000, 0.2000, 0.3000, 0.0000])
"""


@pytest.mark.torch
@needs_compiler
@needs_cmake
def test_static_members_take_and_return_a_class_of_the_library(tmp_path: Path) -> None:
    folder = copy_example(tmp_path, EXAMPLE.parent / "torch_classes")
    configure(folder, *TOGETHER)
    run(folder, "cmake", "--build", "build", "-j", "2")
    assert run_python(folder, "demo.py") == PRINTED
