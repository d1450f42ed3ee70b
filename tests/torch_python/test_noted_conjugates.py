"""Kernels that conjugate give the same numbers below a mode and a subclass of tensors, where PyTorch leaves out what does.

What PyTorch's own functions give is what is wanted: `x.conj()` and the imaginary part of that only note what is to be done.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.generated import run_program, write_project

pytestmark = pytest.mark.torch

REFERENCES = """\
- func: cj::reference(Tensor x, Tensor y) -> Tensor
  dispatch: {CompositeExplicitAutograd: reference}
  fake: {like: x}
  derivatives: auto
  samples: &samples
    calls:
      - (randn(3), randn(3))
    reference: x * y.conj() + torch.imag(y.conj())
- func: cj::composed(Tensor x, Tensor y) -> Tensor
  dispatch: {CompositeImplicitAutograd: reference}
  samples: *samples
"""
KERNEL = """\
- func: cj::kernel(Tensor x, Tensor y) -> Tensor
  dispatch: {CPU: kernel}
  fake: {like: x}
  derivatives:
    x: cj::kernel_backward(grad, y)
    y: not_differentiable
- func: cj::kernel_backward(Tensor g, Tensor y) -> Tensor
  dispatch: {CPU: kernel_backward}
  fake: {like: g}
"""
KERNELS = """\
import torch


def kernel(x, y):
    return x * y.conj() + torch.imag(y.conj())


def kernel_backward(g, y):
    return g.conj().conj_physical() * y.conj().conj()
"""
PROGRAM = """
import sys
import torch
import cj_ops
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from torch.utils.flop_counter import FlopCounterMode


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def wanted(x, y):
    return x * y.conj() + torch.imag(y.conj())


def in_mode(mode):
    def treated(f, x, y):
        with mode():
            return f(x, y)
    return treated


def two(f, x, y):
    found = f(TwoTensor(x, x * 2), TwoTensor(y, y * 3))
    return torch.stack([found.a, found.b])


def unrecorded(f, x, y):
    with torch.inference_mode(), Mode():
        return f(x, y).clone()


def saved(f, x, y):
    def contexts():
        return create_selective_checkpoint_contexts([getattr(torch.ops.cj, name).default for name in sys.argv[1:]])
    return checkpoint(f, x, y, use_reentrant=False, context_fn=contexts)


def gradient(f, x, y):
    x = x.clone().requires_grad_()
    with Mode():
        return torch.autograd.grad(f(x, y).abs().sum(), x)[0]


TREATMENTS = {
    "a call": lambda f, x, y: f(x, y),
    "a mode": in_mode(Mode),
    "flops": in_mode(lambda: FlopCounterMode(display=False)),
    "a mode in a mode": lambda f, x, y: in_mode(Mode)(lambda *given: in_mode(Mode)(f, *given), x, y),
    "a subclass": two,
    "inference mode": unrecorded,
    "selective checkpoint": saved,
    "gradient": gradient,
}
x = torch.randn(3, dtype=torch.complex128)
y = torch.randn(3, dtype=torch.complex128)
wrong = []
for name in sys.argv[1:]:
    f = getattr(torch.ops.cj, name)
    for treatment, treated in TREATMENTS.items():
        same = wanted(x, y)
        if treatment == "a subclass":
            # It refuses the imaginary part of what is conjugated, of PyTorch's functions too.
            if name == "composed":
                continue
            same = torch.stack([same, wanted(x * 2, y * 3)])
        if treatment == "gradient":
            leaf = x.clone().requires_grad_()
            (same,) = torch.autograd.grad(wanted(leaf, y).abs().sum(), leaf)
        if not torch.allclose(treated(f, x, y), same):
            wrong.append((name, treatment))
print(wrong)
"""


@pytest.mark.parametrize("check", ["0", "1", "not set"])
def test_kernels_in_python(check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if check != "not set":
        monkeypatch.setenv("TORCHGEN_LITE_CHECK", check)
    write_project(tmp_path, REFERENCES + KERNEL, KERNELS)
    assert run_program(tmp_path, PROGRAM, "reference", "composed", "kernel").strip() == "[]"


@needs_compiler
def test_references_in_cpp(tmp_path: Path) -> None:
    build_package(tmp_path, REFERENCES, "")
    program = "import torch" + PROGRAM
    assert run_program(tmp_path, program, "reference", "composed").strip() == "[]"
