"""Gradients of `Tensor?[]`, lists in which tensors may be left out, of kernels and formulas in C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.gaps import ENTRIES, PROGRAM
from tests.torch_python.generated import run_program

KERNELS = """\
#include <ATen/ATen.h>

using at::Tensor;
using WithGaps = c10::List<std::optional<Tensor>>;

namespace gaps {

Tensor weight(const Tensor& x, const WithGaps& ws, double s) {
  Tensor sum = at::ones_like(x);
  for (const std::optional<Tensor> w : ws) {
    if (w.has_value()) {
      sum = sum + *w * *w * s;
    }
  }
  return sum;
}

std::vector<Tensor> weights_grad(const Tensor& grad, const WithGaps& ws, double s) {
  std::vector<Tensor> found;
  for (const std::optional<Tensor> w : ws) {
    found.push_back(w.has_value() ? grad * *w * 2 * s : at::zeros_like(grad));
  }
  return found;
}

Tensor total(const Tensor& x, const WithGaps& ws, double s) {
  return x * weight(x, ws, s);
}

Tensor& scale_(Tensor& y, const WithGaps& ws, at::TensorList more) {
  y.mul_(weight(y, ws, 1.0));
  for (const Tensor& one : more) {
    y.add_(one);
  }
  return y;
}

std::vector<Tensor> copies(const Tensor& grad, at::TensorList more) {
  std::vector<Tensor> found;
  for (size_t i = 0; i < more.size(); ++i) {
    found.push_back(grad.clone());
  }
  return found;
}

} // namespace gaps

#include <gaps/verify_kernels.h>
"""


@needs_compiler
@pytest.mark.torch
@pytest.mark.slow("compiles a library")
def test_gradients_wherever_tensors_are_left_out(tmp_path: Path) -> None:
    build_package(tmp_path, ENTRIES, KERNELS)
    run_program(tmp_path, PROGRAM.format(package="gaps_ops"))
