"""Target `python`: an edit of the YAML changes only lines about the edited entry; a comment changes none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unit.targets.torch_python.test_stillness import edit
from torchgen_lite import generate, load

NEW = """\
- func: twice(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: neg_cpu
    SIM: neg_sim

"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of examples/tinyarr, whose YAML and kernels a test may change."""
    folder = tmp_path / "tinyarr"
    shutil.copytree(ROOT / "examples/tinyarr", folder, ignore=shutil.ignore_patterns("_ops"))
    return folder


def test_a_comment_changes_nothing(example: Path) -> None:
    before = generate(load(root=example))
    edit(example / "ops.yaml", "# The operators", "# Another line.\n# The operators")
    assert generate(load(root=example)) == before


@pytest.mark.parametrize("below", ["add.Tensor(", "sum(", "to("])
def test_a_new_operator_changes_no_line_of_another(example: Path, below: str) -> None:
    before = generate(load(root=example))
    edit(example / "ops.yaml", f"- func: {below}", f"{NEW}- func: {below}")
    after = generate(load(root=example))
    for path, text in before.items():
        lines = iter(after[path].splitlines())
        gone = [line for line in text.splitlines() if line not in lines]
        assert not gone, path


def test_a_renamed_kernel_changes_the_lines_that_name_it(example: Path) -> None:
    before = generate(load(root=example))
    for path in ("ops.yaml", "src/tinyarr/kernels/cpu.py"):
        edit(example / path, "exp_cpu", "exp_arm")
    after = generate(load(root=example))
    changed = [
        (old, new)
        for path, text in before.items()
        for old, new in zip(text.splitlines(), after[path].splitlines(), strict=True)
        if old != new
    ]
    assert changed
    assert all(old.replace("exp_cpu", "exp_arm") == new for old, new in changed)
