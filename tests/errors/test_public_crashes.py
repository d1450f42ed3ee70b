"""Inputs on which PyTorch's reader crashed, rebuilt from public reports; here each is a diagnostic."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions

# The number of the issue in pytorch/pytorch, an input of its kind, and the start of what is said.
REPORTS = [
    # Only the title of this one was available: a table whose keys are not keys.
    (127404, "- func: f.Scalar(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDAA: k\n", "3:10"),
    (
        127405,
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU, CUDA: f_out\n    CompositeExplicitAutograd:\n",
        "4:31",
    ),
    (127406, "- structured: True\n  dispatch:\n    CPU, CUDA: f_out\n", "1:3"),
    (
        127407,
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  device_check: NoCheck2  # TensorIterator\n",
        "2:17",
    ),
    (127408, "- func: f(Tensor self, Tensor mask, float$scale) -> Tensor\n", "1:42"),
    (
        127409,
        "- func: f_backward(Tensor grad, Tensor self) -> Tensor\n"
        "  structured_delegate: f_backward.grad_input\n",
        "2:24",
    ),
    (127410, "- functa` and `Variable` have compatible tensor\n", "1:3"),
    (
        127411,
        "- func: f.out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  precomputed:\n"
        "  - indices ->linear(Tensor self, Tensor weight) -> Tensor\n  dispatch: {CPU: f_out}\n",
        "4:5",
    ),
    (162395, "- func: f(Tensor self, int[ dim) -> Tensor\n", "1:27"),
    (162397, "- func: f(Tensor self) -> Tensor\n  tags: [{core: 1}]\n", "2:10"),
]


@pytest.mark.parametrize(("issue", "text", "place"), REPORTS)
def test_a_crash_elsewhere_is_a_diagnostic_here(issue: int, text: str, place: str) -> None:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source], Dialect(("core",)))
    program = build_program(functions, Config(Path(".")), diagnostics=found, sources=[source])
    lines = [line for line in render_concise(program.diagnostics).splitlines() if "error" in line]
    assert any(line.startswith(f"ops.yaml:{place}: error[TG") for line in lines), issue
    assert len(lines) <= 2
