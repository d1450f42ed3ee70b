"""A small PyTorch, an older one, and a backend."""

from __future__ import annotations

from pathlib import Path

import pytest

PYTORCH = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  tags: core
- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: isnan(Tensor self) -> Tensor
  tags: core
  dispatch:
    CPU, CUDA: isnan
  autogen: isnan.out
- func: square(Tensor self) -> Tensor
- func: clone(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: clone
- func: mm(Tensor self, Tensor mat2) -> Tensor
  tags: core
  dispatch:
    CPU: mm
"""

# The older release: `gone` still exists, `mm` takes another argument, `isnan` has one kernel for all backends, and
# `square` is not composite.
OLDER = (
    PYTORCH.replace("mat2", "mat2, int more")
    .replace("- func: square(Tensor self) -> Tensor\n", "")
    .replace("dispatch:\n    CPU, CUDA: isnan", "dispatch:\n    CompositeExplicitAutograd: isnan")
    + """\
- func: gone(Tensor self) -> Tensor
  dispatch:
    CPU: gone
- func: square(Tensor self) -> Tensor
  dispatch:
    CPU: square
"""
)

BACKEND = """\
- func: add.out
  dispatch:
    PrivateUse1: add_mine
- func: square
  dispatch:
    PrivateUse1: square_mine
- func: mm(Tensor self, Tensor mat2, int more) -> Tensor
  dispatch:
    PrivateUse1: mm_mine
- func: gone
  dispatch:
    PrivateUse1: gone_mine
"""


@pytest.fixture
def backend(project: Path) -> Path:
    (project / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\nnative = "new.yaml"\ntargets = ["cpp-torch"]\n'
    )
    for name, text in (("new.yaml", PYTORCH), ("old.yaml", OLDER), ("ops.yaml", BACKEND)):
        (project / name).write_text(text)
    return project
