"""Checked-in code changes little: an edit of the YAML changes only lines about the edited entry."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchgen_lite import generate, load
from torchgen_lite.targets.torch_python.support import MODULES

NEW = """\
- func: toy::twice(Tensor self, float by=2.0) -> Tensor
  dispatch:
    CPU: squash_cpu
  fake: {like: self, shape: "broadcast(self, self)"}
  derivatives:
    self: grad * squash_slope(self, by).exp() + exp(self)
  samples:
    - (randn(3))
  autocast: float32

"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of examples/torch_backend, whose YAML and kernels a test may change."""
    folder = tmp_path / "torch_backend"
    shutil.copytree(ROOT / "examples/torch_backend", folder, ignore=lambda *_: ["generated"])
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_comment_changes_the_places_alone(example: Path) -> None:
    before = generate(load(root=example))
    edit(example / "ops.yaml", "# A backend", "# Another line.\n# A backend")
    after = generate(load(root=example))
    changed = [path for path in after if after[path] != before[path]]
    assert changed == ["torch-python/toy_ops/_places.py"]


@pytest.mark.parametrize("below", ["mm.out(", "toy::squash(", "toy::squash_slope("])
def test_a_new_operator_changes_no_line_of_another(example: Path, below: str) -> None:
    before = generate(load(root=example))
    edit(example / "ops.yaml", f"- func: {below}", f"{NEW}- func: {below}")
    after = generate(load(root=example))
    # What only some operators need is a module of its own.
    assert {Path(path).stem for path in set(after) ^ set(before)} <= MODULES - {"_library"}
    assert set(before) <= set(after)
    for path, text in after.items():
        if path in before and not path.endswith("_places.py"):
            lines = iter(text.splitlines())
            gone = [line for line in before[path].splitlines() if line not in lines]
            assert not gone, path


def test_a_renamed_kernel_changes_the_lines_that_name_it(example: Path) -> None:
    before = generate(load(root=example))
    for path in ("ops.yaml", "toy_backend/kernels.py"):
        edit(example / path, "squash_cpu", "squash_arm")
    after = generate(load(root=example))
    changed = [
        (old, new)
        for path, text in after.items()
        for old, new in zip(before[path].splitlines(), text.splitlines(), strict=True)
        if old != new
    ]
    assert len(changed) == 1
    assert all(old.replace("squash_cpu", "squash_arm") == new for old, new in changed)
