"""`add`: the entries that it copies from PyTorch, and the entries that come with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]


def test_entries_with_what_they_need(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("- func: mylib::f(Tensor self) -> Tensor\n")
    result = run("add", "add.Tensor", "aten::mm", "add_.Tensor", "--dispatch", "XLA")
    assert (result.code, result.stderr) == (0, "4 operators added\nwrote ops.yaml\n")
    assert (backend / "ops.yaml").read_text() == """\
- func: mylib::f(Tensor self) -> Tensor

- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out

- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    XLA: add_out

- func: mm(Tensor self, Tensor mat2) -> Tensor
  dispatch:
    XLA: mm

- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
"""
    assert run("fmt", "--check").code == 0
    result = run("add", "mm", "isnan")
    assert result.stderr == "aten::mm is already declared\n1 operator added\nwrote ops.yaml\n"


def test_mistakes(run: Run, backend: Path) -> None:
    before = (backend / "ops.yaml").read_text()
    result = run("add", "add.Tensr", "--dispatch", "XLAA")
    assert result.code == 2
    assert "did you mean `add.Tensor`?" in result.stderr and "did you mean `XLA`?" in result.stderr
    assert (backend / "ops.yaml").read_text() == before


@pytest.mark.torch
def test_entries_of_the_installed_pytorch(run: Run, project: Path) -> None:
    pytest.importorskip("torch")
    (project / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    (project / "ops.yaml").write_text("")
    assert run("add", "resize_", "sum.IntList_out", "prod.int_out", "_copy_from").code == 0
    assert (project / "ops.yaml").read_text().startswith("""\
- func: resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)
  device_check: NoCheck
  device_guard: False
  use_const_ref_for_mutable_tensors: True
  dispatch:
    PrivateUse1: resize_
""")
    result = run("lint", "--deny-warnings")
    assert (result.code, result.stderr) == (0, "4 operators, 0 errors, 0 warnings\n")


@pytest.mark.torch
def test_structured_kernels_are_named_after_their_overloads(run: Run, project: Path) -> None:
    pytest.importorskip("torch")
    (project / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    (project / "ops.yaml").write_text("")
    assert run("add", "eq.Tensor_out", "eq.Scalar_out", "add.out").code == 0
    kernels = [
        line.split()[1]
        for line in (project / "ops.yaml").read_text().splitlines()
        if "PrivateUse1:" in line
    ]
    assert kernels == ["eq_Tensor_out", "eq_Scalar_out", "add_out"]
    assert run("generate").code == 0
    header = (project / "generated/cpp-torch/include/aten_ops/structured.h").read_text()
    structs = [line.split()[1] for line in header.splitlines() if line.startswith("struct ")]
    assert structs == [f"structured_{name}" for name in kernels]
