"""A selective checkpoint that keeps what an operator in place returns is refused: the tensor is written after it was kept.

PyTorch finds that by the version of the tensor, which its own operators move after their kernels, and refuses it, too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.generated import run_program, write_project

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: kw::expo(Tensor self) -> Tensor
  dispatch: {CPU: expo}
  fake: {like: self}
  derivatives:
    self: grad * result
- func: kw::expo_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: expo_}
- func: kw::underived_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: expo_}
- func: kw::still_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: expo_}
  derivatives:
    self: not_differentiable
"""
KERNELS = """\
def expo(self):
    return self.exp()


def expo_(self):
    return self.exp_()
"""
IN_CPP = """\
#include <ATen/ATen.h>

namespace kw {

at::Tensor expo(const at::Tensor& self) {
  return self.exp();
}

at::Tensor& expo_(at::Tensor& self) {
  return self.exp_();
}

} // namespace kw

#include <kw/verify_kernels.h>
"""
PROGRAM = """
import torch
import kw_ops
from functools import partial
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

ops = torch.ops.kw
FUNCTIONS = {
    "aten": (torch.exp_, torch.ops.aten.exp_.default),
    "expo_": (ops.expo_, ops.expo_.default),
    "underived_": (ops.underived_, ops.underived_.default),
    "still_": (ops.still_, ops.still_.default),
}
# What is written: it requires a gradient, or not; and in which mode.
WRITTEN = {
    "recorded": lambda f, x: f(x * 1),
    "of a constant": lambda f, x: f(x.detach() * 1),
    "unrecorded": lambda f, x: torch.no_grad()(f)(x.detach() * 1),
}
wrong = []
for name, (f, op) in FUNCTIONS.items():
    for how, written in WRITTEN.items():
        if how == "recorded" and name in ("underived_", "still_"):
            continue
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        contexts = partial(create_selective_checkpoint_contexts, [op])

        def function(x):
            return (x * written(f, x)).sin() * x

        try:
            kept = checkpoint(function, x, use_reentrant=False, context_fn=contexts)
            (found,) = torch.autograd.grad(kept.sum(), x)
        except RuntimeError as error:
            assert "has been mutated" in str(error), error
            continue
        wrong.append((name, how))
print(wrong)
"""


def test_kernels_in_python(tmp_path: Path) -> None:
    write_project(tmp_path, ENTRIES, KERNELS)
    assert run_program(tmp_path, PROGRAM).strip() == "[]"


@needs_compiler
def test_kernels_in_cpp(tmp_path: Path) -> None:
    build_package(tmp_path, ENTRIES, IN_CPP)
    assert run_program(tmp_path, "import torch" + PROGRAM).strip() == "[]"
