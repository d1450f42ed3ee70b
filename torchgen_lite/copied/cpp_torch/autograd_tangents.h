#pragma once

#include "autograd_kernels.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <optional>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

// The value of a dual tensor, as written formulas of tangents see it.
inline at::Tensor primal(const at::Tensor& tensor) {
  return memory::any_has_tangent(tensor) ? tensor._fw_primal(/*level=*/0)
                                         : tensor;
}

inline at::Tensor primal(const std::optional<at::Tensor>& tensor) {
  return primal(tensor.value_or(at::Tensor()));
}

template <class List>
variable_list primal(const List& tensors) {
  auto all = each(tensors);
  for (auto& one : all) {
    one = primal(one);
  }
  return all;
}

// The tangent of a dual tensor, zeros if there is none.
inline at::Tensor tangent(const at::Tensor& tensor) {
  const auto found = tangent_of(tensor);
  const bool is_zero = tensor.defined() && !found.defined();
  return is_zero ? at::zeros_like(tensor) : found;
}

inline at::Tensor tangent(const std::optional<at::Tensor>& tensor) {
  return tangent(tensor.value_or(at::Tensor()));
}

template <class List>
variable_list tangent(const List& tensors) {
  auto all = each(tensors);
  for (auto& one : all) {
    one = tangent(one);
  }
  return all;
}

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
