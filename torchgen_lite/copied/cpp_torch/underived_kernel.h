#pragma once

#include "autograd.h"
#include "tensor_memory.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

inline void add_tensors(
    const c10::IValue& value,
    std::vector<at::Tensor>& tensors) {
  memory::each_boxed(value, [&](const at::Tensor& tensor) {
    tensors.push_back(tensor);
  });
}

// A kernel of an operator without formulas: a derivative is refused where
// PyTorch's fallback would silently lose it.
//
// Note [What has no derivatives runs below autograd]
// A kernel that calls `cat` and then writes by a pointer gives a result that
// requires gradients, and its derivative is that of `cat`. So nothing that the
// kernel calls is recorded, and no result carries a gradient from inside.
//
// The kernel is one for the key Autograd. An operator whose arguments carry no
// keys, such as a `Tensor[]?` alone, has it at ADInplaceOrView: there it also
// raises the versions of what is written.
class Underived final : public c10::OperatorKernel {
 public:
  // `cure` is what its errors say to do.
  explicit Underived(std::string cure) : cure_(std::move(cure)) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    std::call_once(is_known_, [&] { results_.emplace(op.schema()); });
    const Call call(op.schema(), *stack);
    const bool has_tangents = memory::any_has_tangent(call.read, call.written);
    const bool is_wanted = memory::any_requires_grad(call.read, call.written);
    const auto name = has_tangents || is_wanted
        ? c10::toString(op.operator_name())
        : std::string();
    TORCH_CHECK_NOT_IMPLEMENTED(
        !has_tangents || call.written.empty(),
        name,
        kNoTangents,
        cure_);
    for (const auto& tensor : is_wanted ? call.written : Tensors()) {
      torch::autograd::check_inplace(tensor, is_wanted);
      TORCH_CHECK(!is_transformed(tensor), name, kLost, cure_);
    }
    redispatch(op, keys, stack, call.written);
    Tensors results;
    memory::Places places;
    const auto returned =
        torch::jit::last(*stack, op.schema().returns().size());
    for (std::size_t i = 0; i < returned.size(); ++i) {
      add_tensors(returned[i], results);
      memory::add_places(places, i, returned[i]);
    }
    if (memory::are_results_checked()) {
      results_->check(call.places, places);
    }
    if (has_tangents || is_wanted) {
      refuse_derivatives(name, has_tangents, is_wanted, call, results);
    }
  }

 private:
  using Tensors = std::vector<at::Tensor>;

  static constexpr const char* kLost = " has no derivatives: ";
  static constexpr const char* kNoTangents =
      " has no formula for forward-mode: ";

  // The tensors that a call is given: those that it writes, and others.
  struct Call {
    Call(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
      const auto& arguments = schema.arguments();
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& value = torch::jit::peek(stack, i, arguments.size());
        const auto* alias = arguments[i].alias_info();
        const bool is_written = alias != nullptr && alias->isWrite();
        add_tensors(value, is_written ? written : read);
        memory::add_places(places, i, value);
      }
    }

    Tensors read;
    Tensors written;
    memory::Places places;
  };

  static void redispatch(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack,
      const Tensors& written) {
    const bool is_at_autograd =
        keys.highestPriorityTypeId() != c10::DispatchKey::ADInplaceOrView;
    // Below the key Autograd, ADInplaceOrView raises the versions, and views that
    // the kernel makes know their base.
    const c10::impl::ExcludeDispatchKeyGuard guard(
        is_at_autograd && (!written.empty() || has_views(op.schema()))
            ? c10::autograd_dispatch_keyset
            : c10::autograd_dispatch_keyset_with_ADInplaceOrView);
    if (is_at_autograd) {
      op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
    } else {
      memory::begin_writing(written);
      op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
      memory::end_writing(written);
    }
  }

  // What would have a derivative refuses it in the backward pass: new results, and
  // what is written, returned or not.
  void refuse_derivatives(
      const std::string& name,
      bool has_tangents,
      bool is_wanted,
      const Call& call,
      const Tensors& results) const {
    const auto node = autograd::new_node<torch::autograd::Error>(
        name + kLost + cure_,
        torch::autograd::collect_next_edges(call.read, call.written));
    for (const auto& result : results) {
      const bool is_given =
          is_in(result, call.read) || is_in(result, call.written);
      if (is_differentiable(result) && !is_given) {
        TORCH_CHECK_NOT_IMPLEMENTED(!has_tangents, name, kNoTangents, cure_);
        // A view of what requires a gradient requires one itself, and has no node.
        if (is_wanted && (result.is_view() || !result.requires_grad())) {
          torch::autograd::set_history(result, node);
        }
      }
    }
    if (is_wanted) {
      refuse_derivatives_of_written(name, call);
    }
  }

  // Each has a node of its own, since only that of one result can be in the
  // history of a view; the base of the view takes the place of the first edge.
  void refuse_derivatives_of_written(const std::string& name, const Call& call)
      const {
    for (const auto& tensor : call.written) {
      if (is_differentiable(tensor)) {
        auto edges = torch::autograd::collect_next_edges(
            tensor,
            call.read,
            call.written);
        torch::autograd::rebase_history(
            tensor,
            autograd::new_node<torch::autograd::Error>(
                name + kLost + cure_,
                std::move(edges)));
      }
    }
  }

  // Whether a transform of torch.func has wrapped it, perhaps for this call alone:
  // then its history is lost.
  static bool is_transformed(const at::Tensor& tensor) {
    return is_differentiable(tensor) &&
        tensor.key_set().has(c10::DispatchKey::FuncTorchGradWrapper);
  }

  static bool has_views(const c10::FunctionSchema& schema) {
    const auto& results = schema.returns();
    return std::any_of(results.begin(), results.end(), [](const auto& result) {
      return result.alias_info() != nullptr;
    });
  }

  static bool is_differentiable(const at::Tensor& tensor) {
    return torch::autograd::isDifferentiableType(tensor.scalar_type());
  }

  static bool is_in(const at::Tensor& tensor, const Tensors& tensors) {
    const auto is_it = [&](const at::Tensor& other) {
      return other.is_same(tensor);
    };
    return std::any_of(tensors.begin(), tensors.end(), is_it);
  }

  std::string cure_;
  std::once_flag is_known_;
  std::optional<memory::Results> results_;
};

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
