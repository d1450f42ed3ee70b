#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <optional>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

inline bool has_tangent(const at::Tensor& tensor) {
  return torch::autograd::isFwGradDefined(tensor);
}

inline bool has_tangent(const std::optional<at::Tensor>& tensor) {
  return torch::autograd::isFwGradDefined(tensor);
}

inline bool has_tangent(const at::ITensorListRef& tensors) {
  return torch::autograd::isFwGradDefinedTensorList(tensors);
}

inline bool has_tangent(at::TensorList tensors) {
  return torch::autograd::isFwGradDefinedTensorList(tensors);
}

inline bool has_tangent(const c10::List<std::optional<at::Tensor>>& tensors) {
  return torch::autograd::isFwGradDefinedTensorList(tensors);
}

// The formulas are for backward mode: a tangent would silently be lost.
template <class... Tensors>
void refuse_tangents(const char* name, const Tensors&... tensors) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !(has_tangent(tensors) || ...),
      name,
      " has no formula for forward-mode automatic differentiation");
}

inline void raise_version(const at::Tensor& tensor) {
  torch::autograd::increment_version(tensor);
}

inline void raise_version(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) {
    torch::autograd::increment_version(*tensor);
  }
}

inline void raise_version(const at::ITensorListRef& tensors) {
  for (const auto& tensor : tensors) {
    torch::autograd::increment_version(tensor);
  }
}

inline void raise_version(at::TensorList tensors) {
  for (const auto& tensor : tensors) {
    torch::autograd::increment_version(tensor);
  }
}

// How a view is recreated from its base: with the same strides. A view that was
// returned together with others cannot be changed in place.
inline at::Tensor as_view(
    const at::Tensor& base,
    const at::Tensor& view,
    bool is_one_of_several = false) {
  using torch::autograd::CreationMeta;
  auto creation = is_one_of_several ? CreationMeta::MULTI_OUTPUT_NODE
                                    : CreationMeta::DEFAULT;
  if (c10::InferenceMode::is_enabled()) {
    creation = CreationMeta::INFERENCE_MODE;
  } else if (!at::GradMode::is_enabled()) {
    creation = CreationMeta::NO_GRAD_MODE;
  }
  return torch::autograd::as_view(
      base,
      view,
      /*is_bw_differentiable=*/true,
      /*is_fw_differentiable=*/true,
      /*view_func=*/nullptr,
      /*rev_view_func=*/nullptr,
      creation);
}

inline std::vector<at::Tensor> as_views(
    const at::Tensor& base,
    const std::vector<at::Tensor>& views) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(views.size());
  for (const auto& view : views) {
    tensors.push_back(as_view(base, view, true));
  }
  return tensors;
}

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
