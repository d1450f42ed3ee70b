#pragma once

#include <ATen/ATen.h>

#include <array>
#include <tuple>
#include <vector>

namespace ad_ops {

inline std::tuple<std::vector<at::Tensor>, at::Tensor> weighted_backward(
    const at::Tensor& grad,
    at::TensorList xs,
    const at::Tensor& weight,
    std::optional<double> scale,
    std::array<bool, 2> mask) {
  const at::Tensor scaled = scale ? grad * *scale : grad;
  std::vector<at::Tensor> grads(xs.size());
  std::vector<at::Tensor> weights(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) {
    if (mask[0]) {
      grads[i] = weight.defined() ? scaled * weight[i] : scaled;
    }
    if (mask[1]) {
      weights[i] = (scaled * xs[i]).sum();
    }
  }
  return {grads, mask[1] ? at::stack(weights) : at::Tensor()};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> affine_backward(
    const at::Tensor& grad,
    const at::Tensor& x,
    const at::Tensor& weight,
    std::array<bool, 3> mask) {
  return {
      mask[0] ? grad.matmul(weight.t()) : at::Tensor(),
      mask[1] ? x.t().matmul(grad) : at::Tensor(),
      mask[2] ? grad.sum(0) : at::Tensor()};
}

inline std::vector<at::Tensor> spread_backward(
    const at::Tensor& grad,
    at::TensorList ys) {
  std::vector<at::Tensor> grads;
  for (const auto& y : ys)
    grads.push_back(grad.sum().expand_as(y));
  return grads;
}

// Not linear, which nobody can see in a formula that calls it.
inline at::Tensor bent(const at::Tensor& grad) {
  return at::where(grad > 0.5, grad * 3, grad * 2);
}

// Nothing that autograd can differentiate again.
inline at::Tensor opaque(const at::Tensor& grad) {
  return grad.detach();
}

} // namespace ad_ops
