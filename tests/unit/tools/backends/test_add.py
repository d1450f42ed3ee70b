"""`add`: the entries that it copies from PyTorch, and the entries that come with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
NEW = ("--native", "new.yaml")


def test_entries_with_what_they_need(run: Run, backend: Path) -> None:
    (backend / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    (backend / "ops.yaml").write_text("- func: mylib::f(Tensor self) -> Tensor\n")
    result = run("add", "add.Tensor", "aten::mm", "add_.Tensor", "--dispatch", "XLA", *NEW)
    assert (result.code, result.stderr) == (0, "4 operators added to ops.yaml\n")
    assert (backend / "ops.yaml").read_text() == """\
- func: mylib::f(Tensor self) -> Tensor

- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  tags: core

- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    XLA: add_out

- func: mm(Tensor self, Tensor mat2) -> Tensor
  dispatch:
    XLA: mm
  tags: core

- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
"""
    assert run("fmt", "--check").code == 0
    result = run("add", "mm", "isnan", *NEW)
    assert result.stderr == "aten::mm is already declared\n1 operator added to ops.yaml\n"


def test_entries_by_name(run: Run, backend: Path) -> None:
    """Where schemas are those of `native`, an entry names an operator and a kernel; the out variant has that of others."""
    (backend / "ops.yaml").write_text("")
    result = run("add", "add.Tensor", "mm")
    assert (result.code, result.stderr) == (0, "2 operators added to ops.yaml\n")
    assert (backend / "ops.yaml").read_text() == """\
- func: add.out
  dispatch:
    PrivateUse1: add_out

- func: mm
  dispatch:
    PrivateUse1: mm
"""
    assert run("lint", "--deny-warnings").code == 0
    assert (
        run("add", "add_.Tensor").stderr == "aten::add.out is already declared\n0 operators added\n"
    )


def test_what_another_backend_has(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("")
    assert run("add", "--like", "CUDA").code == 0
    assert (
        backend / "ops.yaml"
    ).read_text() == "- func: isnan\n  dispatch:\n    PrivateUse1: isnan\n"


def test_what_is_called_and_not_served(run: Run, backend: Path) -> None:
    """`clone` is composed, `square` has a kernel, and `add_.Tensor` needs that of `add.out`."""
    (backend / "ops.yaml").write_text("- func: square\n  dispatch: {PrivateUse1: square_mine}\n")
    (backend / "log").write_text("aten::add_.Tensor\naten::clone\naten::square\naten::mm\n")
    assert run("add", "--calls", "log").stderr == "2 operators added to ops.yaml\n"
    assert (backend / "ops.yaml").read_text().endswith("""\
- func: add.out
  dispatch:
    PrivateUse1: add_out

- func: mm
  dispatch:
    PrivateUse1: mm
""")
    assert run("add").code == 2


@pytest.mark.parametrize(
    "before",
    [
        "backend: PrivateUse1\ncpp_namespace: at::mine\nsupported:\n  - isnan\n",
        "  - func: isnan\n    dispatch: {PrivateUse1: isnan}\n",
    ],
)
def test_a_file_that_no_entry_can_follow_stays(run: Run, backend: Path, before: str) -> None:
    """An entry was written behind `supported:`, and the file could not be read any more."""
    (backend / "ops.yaml").write_text(before)
    assert run("lint").code == 0
    result = run("add", "add.Tensor", "mm")
    said = "ops.yaml takes no entries at its end: add these to a list of it\n"
    assert result == Result(1, "  - add.out\n  - mm\n", said)
    assert (backend / "ops.yaml").read_text() == before
    again = run("add", "isnan")
    assert (again.code, again.stderr) == (0, "aten::isnan is already declared\n0 operators added\n")


def test_a_key_has_the_name_that_the_project_gives_it(run: Run, backend: Path) -> None:
    """`table` and `why` took it, and these said that there is no such key: `did you mean XPU`."""
    with (backend / "torchgen_lite.toml").open("a") as file:
        file.write('privateuse1 = "NPU"\n')
    (backend / "ops.yaml").write_text("")
    assert run("add", "mm", "--dispatch", "NPU").code == 0
    assert (backend / "ops.yaml").read_text() == "- func: mm\n  dispatch:\n    NPU: mm\n"
    assert run("lint").code == 0
    own = run("coverage", "--key", "PrivateUse1", "--like", "PrivateUse1")
    assert run("coverage", "--key", "NPU", "--like", "NPU") == own
    assert own.code == 0
    assert run("add", "--like", "NPU").code == 0


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
