"""What `table` says of a package that is alone, and what PyTorch has once it is imported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.together import OPERATORS, write_together, wrong_cells
from tests.torch_python.generated import write_package
from torchgen_lite import load
from torchgen_lite.targets.generation import generation_of

pytestmark = pytest.mark.torch


def test_a_package_in_python(tmp_path: Path) -> None:
    project = write_together(tmp_path, ("torch-python",), 'kernels = ["kern"]\n')
    names = re.findall(r"\b(?:CPU|Meta|Composite\w+): (\w+)", OPERATORS)
    kernels = "".join(
        f"def {name}(*args, **kwargs):\n    raise NotImplementedError\n" for name in names
    )
    (project / "kern.py").write_text(kernels)
    write_package(project)
    program = load(root=project)
    assert wrong_cells(program, generation_of(program).shown, "demo_ops") == []
