"""Which functions of Python a call of an operator runs, and its backward pass: each costs as much as all of the
dispatcher. PyTorch's own are among them, and what is between two of them is C++.

Times are measured by `bench/torch_python.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kern"]
final = {final}
"""
ENTRIES = """\
- func: framed::plain(Tensor a, Tensor b, float s) -> Tensor
  dispatch: {CPU: muladd}
- func: framed::muladd(Tensor a, Tensor b, float s) -> Tensor
  dispatch: {CPU: muladd}
  derivatives: {a: grad * b, b: grad * a}
"""
KERNELS = "def muladd(a, b, s):\n    return a * b + s\n"
PROGRAM = """\
import sys
from pathlib import Path

import torch
import framed_ops as ops

found = []


def note(frame, event, argument):
    code = frame.f_code
    # The engine asks whether it should log.
    if event == "call" and "logging" not in code.co_filename:
        found.append(f"{Path(code.co_filename).stem}.{code.co_name}")


def frames_of(call, begins="<string>.<lambda>"):
    found.clear()
    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    print(*found[found.index(begins) + 1 :])
    return result


free = torch.randn(3)
needed = torch.randn(3, requires_grad=True)
for _ in range(20):
    # The first calls are compared with the schema in more ways.
    ops.plain(free, free, 2.0)
    ops.muladd(free, free, 2.0)
    ops.muladd(needed, needed, 2.0)
frames_of(lambda: ops.plain(free, free, 2.0))
frames_of(lambda: ops.muladd(free, free, 2.0))
result = frames_of(lambda: ops.muladd(needed, needed, 2.0))
frames_of(lambda: torch.autograd.grad(result, needed, free), "graph._engine_run_backward")
"""
CALL = "functions.{0} _ops.__call__ {1}.kernel _forward.may_have_tangents"
KERNEL = "_results.checked_kernel _operators.cpu_{0} kern.muladd _results._is_alone"
FINAL = "_library.call _operators.cpu_{0} kern.muladd"
RECORDED = "_autograd.forward _autograd.run_below"
BACKWARD = "_autograd.backward _operators.backward_muladd"
KEPT = "_operators.setup_context_muladd function.save_for_backward"


@pytest.mark.parametrize(("final", "kernel"), [("false", KERNEL), ("true", FINAL)])
def test_a_call_runs_these_functions(tmp_path: Path, final: str, kernel: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG.format(final=final))
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    lines = [
        f"{CALL.format('plain', '_underived')} {kernel.format('plain')}",
        f"{CALL.format('muladd', '_autograd')} {kernel.format('muladd')}",
        f"{CALL.format('muladd', '_autograd')} {RECORDED} {kernel.format('muladd')} {KEPT}",
        BACKWARD,
    ]
    assert run_program(tmp_path, PROGRAM).splitlines() == lines
