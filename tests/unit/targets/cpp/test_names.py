"""Operators whose names C++ or the generated code has taken already."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import generate, load
from torchgen_lite.targets.cpp.model import with_free_names

YAML = """\
- func: demo::new(Tensor self, int namespace=1) -> Tensor
- func: demo::new_(Tensor(a!) self) -> Tensor(a!)
- func: demo::call(Tensor self) -> Tensor
- func: demo::torch(Tensor self) -> Tensor
- func: demo::schema(Tensor self) -> Tensor
- func: demo::detail(Tensor self) -> Tensor
"""


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_structs_get_names_that_are_free(tmp_path: Path, target: str) -> None:
    (tmp_path / "ops.yaml").write_text(YAML)
    files = generate(load("ops.yaml", root=tmp_path), targets=[target])
    header = files[f"{target}/include/demo/operators.h"]
    structs = [line.split()[1] for line in header.splitlines() if line.startswith("struct ")]
    assert structs == ["new__", "new_", "call_", "torch_", "schema_", "detail_"]
    # What libtorch looks for is the operator's own name.
    assert 'name = "demo::new";' in header and "int64_t namespace_" in header
    assert "ops::new__::call(self, namespace_)" in files[f"{target}/include/demo/functions.h"]


def test_there_may_be_nothing_to_do() -> None:
    assert with_free_names([], {"call"}) == ()
