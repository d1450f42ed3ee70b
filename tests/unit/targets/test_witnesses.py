"""The line of a witness, in the language of whoever makes the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.finding import Witness
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.witnesses import witness_writer

CALL = Witness()
TORCH = 'targets = ["torch-python"]\n'
PYTHON = 'targets = ["python"]\n[target.python]\npackage = "mine.ops"\n'
RUNTIME = (
    'targets = ["cpp-runtime"]\n[target.cpp-runtime]\ntensor = "toy::Tensor"\nheaders = ["toy.h"]\n'
)


def line(folder: Path, config: str, entry: str, witness: Witness) -> str:
    (folder / "torchgen_lite.toml").write_text(config)
    (folder / "native_functions.yaml").write_text(f"- func: lib::{entry}\n")
    program = load(root=folder)
    assert not program.has_errors, program.diagnostics
    write = witness_writer(program, generation_of(program))
    return write(program.resolved.operators[0], witness)


@pytest.mark.parametrize(
    ("entry", "witness", "expected"),
    [
        ("f(Tensor self) -> Tensor", CALL, "torch.ops.lib.f(torch.ones(2, 2))"),
        ("f.two(Tensor self) -> Tensor", CALL, "torch.ops.lib.f.two(torch.ones(2, 2))"),
        # What has a default is given only where it is asked for, by its default if that is a literal.
        (
            "f(Tensor self, int a=0, int b=-1, ScalarType? c=None) -> Tensor",
            Witness(argument="b"),
            "torch.ops.lib.f(torch.ones(2, 2), b=-1)",
        ),
        (
            "f(Tensor self, ScalarType t=long, float[2] s=[]) -> Tensor",
            Witness("full"),
            "torch.ops.lib.f(torch.ones(2, 2), torch.float32, [])",
        ),
        # What comes after it has a name, too.
        (
            "f(Tensor self, int a, *, str mode, Tensor? w) -> Tensor",
            Witness(argument="self"),
            'torch.ops.lib.f(self=torch.ones(2, 2), a=1, mode="1", w=torch.ones(2, 2))',
        ),
        (
            "f(Tensor a, Tensor b, int n=0, float[2] s=[]) -> Tensor",
            Witness(argument="s", by_position=True, distinct=True),
            "torch.ops.lib.f(torch.ones(2, 2), torch.ones(2, 2) * 2, 3, [4.5, 4.5])",
        ),
        (
            "f(Tensor self, int? dim=0) -> Tensor",
            Witness(argument="dim", value="None"),
            "torch.ops.lib.f(torch.ones(2, 2), dim=None)",
        ),
        # Python has no keyword arguments of some names.
        (
            "f(Tensor self, *, int from) -> Tensor",
            CALL,
            'torch.ops.lib.f(torch.ones(2, 2), **{"from": 1})',
        ),
        # The caller has what no value can be written of.
        (
            "f(Tensor self, __torch__.torch.classes.lib.T t) -> Tensor",
            CALL,
            "torch.ops.lib.f(torch.ones(2, 2), t)",
        ),
        (
            "f(Tensor self, Tensor[] ws) -> Tensor",
            Witness(key="CUDA"),
            'torch.ops.lib.f(torch.ones(2, 2).to("cuda"),'
            ' [torch.ones(2, 2).to("cuda"), torch.ones(2, 2).to("cuda")])',
        ),
        ("f(Tensor self) -> Tensor", Witness(key="SparseCsrCPU"), ""),
        (
            "f(Tensor self, int n) -> (Tensor, Tensor)",
            Witness("gradient"),
            "torch.func.grad(lambda self: sum(one.sum() for one in torch.ops.lib.f(self, 1)))"
            "(torch.ones(2, 2))",
        ),
        ("f(int n) -> Tensor", Witness("gradient"), ""),
        (
            "f(Tensor self) -> Tensor",
            Witness("tags"),
            "torch.ops.lib.f.default.tags",
        ),
        ("f(Tensor self) -> Tensor", Witness("method"), ""),
        (
            "f(Tensor self) -> Tensor",
            Witness(target="torch-python"),
            "lib_ops.f(torch.ones(2, 2))",
        ),
        ("f(Tensor self) -> Tensor", Witness(target="torch-stubs"), ""),
        # The operator's own sample is taken, as far as it is needed.
        (
            "f(Tensor self, int n, float s=1.0) -> Tensor\n  samples:\n    - (randn(3), 7, s=2.0)",
            CALL,
            "torch.ops.lib.f(torch.randn(3), 7)",
        ),
        # A kernel of a device alone gets tensors of that.
        (
            "f(Tensor self) -> Tensor\n  dispatch: {CUDA: f}",
            CALL,
            'torch.ops.lib.f(torch.ones(2, 2).to("cuda"))',
        ),
    ],
)
def test_a_call_of_pytorch(tmp_path: Path, entry: str, witness: Witness, expected: str) -> None:
    assert line(tmp_path, TORCH, entry, witness) == expected


@pytest.mark.parametrize(
    ("config", "witness", "expected"),
    [
        (PYTHON, CALL, "mine.ops.f(self, 1, t)"),
        (PYTHON, Witness("method"), "self.f(1, t)"),
        (PYTHON, Witness(key="CUDA"), ""),
        (PYTHON, Witness("gradient"), ""),
        (RUNTIME, CALL, ""),
    ],
)
def test_a_call_of_a_framework(
    tmp_path: Path, config: str, witness: Witness, expected: str
) -> None:
    entry = "f(Tensor self, int n, ScalarType t, bool last=True) -> Tensor"
    assert line(tmp_path, config, entry, witness) == expected


@pytest.mark.parametrize(
    ("config", "target", "expected"),
    [
        (
            'targets = ["cpp-torch"]\n',
            "cpp-torch",
            'lib::functions::f(at::ones({2, 2}), 1, {1.5, 1.5}, "1");',
        ),
        (
            'targets = ["cpp-torch-stable"]\n',
            "cpp-torch-stable",
            'lib::functions::f(torch::stable::Tensor(), 1, {1.5, 1.5}, "1");',
        ),
        (RUNTIME, "", 'lib::functions::f(toy::Tensor(), 1, {1.5, 1.5}, "1");'),
    ],
)
def test_a_call_in_cpp(tmp_path: Path, config: str, target: str, expected: str) -> None:
    entry = "f(Tensor self, int n, float[] s, str mode, bool last=True) -> Tensor"
    assert line(tmp_path, config, entry, Witness(target=target)) == expected
