"""Entries of `aten` in a project for PyTorch, compared with the installed one."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.pipeline import load

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("func", "code"),
    [("nosuch(Tensor self) -> Tensor", "TG315"), ("abs(Tensor self, int n) -> Tensor", "TG316")],
)
def test_the_only_entry_of_a_project_is_compared(tmp_path: Path, func: str, code: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    (tmp_path / "ops.yaml").write_text(f"- func: {func}\n  dispatch: {{CPU: f, Meta: g}}\n")
    assert [d.code for d in load(root=tmp_path).diagnostics] == [code]
