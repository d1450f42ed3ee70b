#pragma once

#include "autograd.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

inline void add_tensors(
    const c10::IValue& value,
    std::vector<at::Tensor>& tensors) {
  if (value.isTensor() && value.toTensor().defined()) {
    tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& one : value.toListRef()) {
      add_tensors(one, tensors);
    }
  }
}

inline bool any_requires_grad(const std::vector<at::Tensor>& tensors) {
  return at::GradMode::is_enabled() &&
      std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
           return tensor.requires_grad();
         });
}

inline void underived_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  std::vector<at::Tensor> given;
  std::vector<at::Tensor> written;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& value = torch::jit::peek(*stack, i, arguments.size());
    const auto* alias = arguments[i].alias_info();
    add_tensors(value, given);
    if (alias != nullptr && alias->isWrite()) {
      add_tensors(value, written);
    }
  }
  const bool has_tangents = torch::autograd::isFwGradDefinedTensorList(given);
  const bool is_wanted = any_requires_grad(given);
  const auto below = keys & c10::after_autograd_keyset;
  if (!has_tangents && !is_wanted) {
    op.redispatchBoxed(below, stack);
    return;
  }
  const auto name = c10::toString(op.operator_name());
  const auto lost = name + " has no derivatives";
  const auto lost_tangent = name + " has no formula for forward-mode";
  TORCH_CHECK_NOT_IMPLEMENTED(!has_tangents || written.empty(), lost_tangent);
  TORCH_CHECK(!any_requires_grad(written), lost);
  op.redispatchBoxed(below, stack);
  std::vector<at::Tensor> results;
  for (const auto& value :
       torch::jit::last(*stack, op.schema().returns().size())) {
    add_tensors(value, results);
  }
  const auto node = autograd::new_node<torch::autograd::Error>(
      lost,
      torch::autograd::collect_next_edges(given));
  for (const auto& result : results) {
    // A kernel that is made of PyTorch's functions may have a derivative.
    if (!torch::autograd::isDifferentiableType(result.scalar_type())) {
      continue;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(
        !has_tangents || torch::autograd::isFwGradDefined(result),
        lost_tangent);
    if (!is_wanted || result.requires_grad()) {
      continue;
    }
    if (written.empty()) {
      torch::autograd::set_history(result, node);
    } else {
      torch::autograd::rebase_history(result, node);
    }
  }
}

// A kernel for the key Autograd of an operator without formulas: a derivative
// is refused where PyTorch's fallback would silently lose it.
//
//   m.impl("f", mylib::fallback::underived());
inline torch::CppFunction underived() {
  return torch::CppFunction::makeFromBoxedFunction<&underived_kernel>();
}

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
