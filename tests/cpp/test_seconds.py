"""Gradients of gradients, of kernels and formulas in C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.generated import run_program
from tests.torch_python.seconds import ENTRIES, PROGRAM

KERNELS = """\
#include <ATen/ATen.h>

using at::Tensor;
using at::TensorList;

namespace seconds {

std::tuple<Tensor, Tensor> two(const Tensor& x, const Tensor& y) {
  return {x * y * y, x * x * y};
}

std::tuple<Tensor, Tensor> first(const Tensor& x) {
  return {x * x.exp(), x.exp()};
}

Tensor grown(const Tensor& x) {
  return x.exp();
}

Tensor& grown_(Tensor& x) {
  return x.exp_();
}

Tensor& squared_(Tensor& x, const Tensor& by) {
  return x.mul_(x.clone()).mul_(by);
}

Tensor chosen(const Tensor& x, const std::optional<Tensor>& w, int64_t n) {
  if (n < 2) {
    return x.sin();
  }
  return w ? x * x * *w : x * x;
}

std::tuple<Tensor, Tensor> noted(
    const Tensor& x,
    Tensor& seen,
    const std::optional<Tensor>& more) {
  seen.add_(x.detach());
  if (more) {
    more->add_(x.detach());
  }
  return {x.exp(), x * x};
}

Tensor total(TensorList xs, const Tensor& y) {
  Tensor sum = at::zeros_like(y);
  for (const Tensor& x : xs) {
    sum = sum + x * x;
  }
  return sum * y;
}

std::vector<Tensor> total_backward(const Tensor& grad, TensorList xs) {
  std::vector<Tensor> found;
  for (const Tensor& x : xs) {
    found.push_back(grad * x * 2);
  }
  return found;
}

std::vector<Tensor> parts(const Tensor& x, const Tensor& y) {
  return {x * x * y, x * y * y};
}

Tensor row(const Tensor& x, int64_t i) {
  return x[i];
}

Tensor once(const Tensor& x) {
  return x * x;
}

Tensor once_backward(const Tensor& g, const Tensor& x) {
  return g * x * 2;
}

Tensor cubed(const Tensor& x) {
  return x * x * x;
}

} // namespace seconds

#include <seconds/verify_kernels.h>
"""


@needs_compiler
@pytest.mark.torch
@pytest.mark.slow("compiles a library")
def test_gradients_of_gradients_of_each_kind_of_formula(tmp_path: Path) -> None:
    build_package(tmp_path, ENTRIES, KERNELS)
    run_program(tmp_path, PROGRAM.format(package="seconds_ops"))
