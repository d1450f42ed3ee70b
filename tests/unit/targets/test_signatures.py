"""The signatures that targets show for an operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.targets import TARGETS

SCHEMA = """\
- func: mylib::scale.Tensor(Tensor self, int[] dims=[], *, float factor=1.0) -> Tensor
- func: mylib::keep(Storage a) -> ()
"""
CONFIG = """\
schema = ["ops.yaml"]
[target.python]
package = "ops"
[target.cpp-runtime]
namespace = "mylib"
tensor = "toy::Tensor"
headers = ["toy.h"]
"""


PARAMETERS = "self: Tensor, dims: Sequence[int] = (), *, factor: float = 1.0"
STABLE = "torch::headeronly::HeaderOnlyArrayRef<int64_t>"
IN_CPP = "{0} scale(const {0}& self, {1} dims = {{}}, double factor = 1.0);"


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("python", f"def scale({PARAMETERS}) -> Tensor: ..."),
        ("torch-python", f"def scale_Tensor({PARAMETERS}) -> Tensor: ..."),
        ("torch-stubs", f"def __call__(_op, /, {PARAMETERS}) -> Tensor: ..."),
        ("cpp-torch", IN_CPP.format("at::Tensor", "at::IntArrayRef")),
        ("cpp-torch-stable", IN_CPP.format("torch::stable::Tensor", STABLE)),
        ("cpp-runtime", IN_CPP.format("toy::Tensor", "torchgen_lite::Span<int64_t>")),
    ],
)
def test_signatures(tmp_path: Path, target: str, line: str) -> None:
    (tmp_path / "ops.yaml").write_text(SCHEMA)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    program = load(root=tmp_path)
    found, other = [TARGETS[target].signatures_of(program, f) for f in program.functions]
    assert found is not None and [*found.lines] == [line]
    # If a target has no name for a type, it shows no signature for the operator.
    assert (other is None) == (target in ("cpp-torch-stable", "cpp-runtime"))


def test_every_target_that_generates_code_has_them() -> None:
    silent = [target.name for target in TARGETS.values() if not target.signatures]
    assert silent == ["device-tests", "command", "docs"]
