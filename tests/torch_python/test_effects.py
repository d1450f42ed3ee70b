"""Calls of operators with `effects: ordered` stay in compiled programs, in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["my_kernels"]
"""
ENTRIES = """\
- func: my::log(Tensor x, str text) -> ()
  effects: ordered
  dispatch: {CPU: log}
- func: my::send(Tensor x) -> Tensor
  effects: ordered
  fake: {like: x}
  dispatch: {CPU: send}
  derivatives: {x: grad}
"""
KERNELS = """\
CALLS = []


def log(x, text):
    CALLS.append(text)


def send(x):
    CALLS.append("send")
    return x.clone()
"""
PROGRAM = """
import my_ops, torch
from my_kernels import CALLS

def f(x):
    my_ops.log(x, "a")
    y = x * 2
    my_ops.send(y)
    my_ops.log(y, "b")
    return y + 1

for needs_gradient in (False, True):
    x = torch.ones(3, requires_grad=needs_gradient)
    y = torch.compile(f, backend=BACKEND, fullgraph=True)(x)
    if needs_gradient:
        y.sum().backward()
    print(*CALLS)
    CALLS.clear()
"""


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_calls_stay(backend: str, tmp_path: Path) -> None:
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "my_kernels.py": KERNELS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    write_package(tmp_path)
    printed = run_program(tmp_path, PROGRAM.replace("BACKEND", repr(backend)))
    assert printed == "a send b\n" * 2
