#pragma once

#include "autograd_kernels.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <tuple>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

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

inline std::vector<at::Tensor> as_view(
    const at::Tensor& base,
    const std::vector<at::Tensor>& views) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(views.size());
  for (const auto& view : views) {
    tensors.push_back(as_view(base, view, true));
  }
  return tensors;
}

// At ADInplaceOrView, for an operator that returns views of the argument at
// `base`.
template <class Operator, size_t base, class Schema = typename Operator::schema>
struct View;

template <class Operator, size_t base, class Result, class... Arguments>
struct View<Operator, base, Result(Arguments...)> {
  static Result kernel(c10::DispatchKeySet keys, Arguments... arguments) {
    const auto call = [&] {
      const at::AutoDispatchBelowADInplaceOrView guard;
      const auto below = keys & c10::after_ADInplaceOrView_keyset;
      return Operator::redispatch(below, arguments...);
    };
    return as_view(std::get<base>(std::tie(arguments...)), call());
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
