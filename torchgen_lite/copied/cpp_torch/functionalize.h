#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

// The current value that a functional tensor stands for; other values are
// returned as they are.
inline c10::IValue inner_value(const c10::IValue& value) {
  namespace impl = at::functionalization::impl;
  if (value.isTensor() && impl::isFunctionalTensor(value.toTensor())) {
    impl::sync(value.toTensor());
    return impl::from_functional_tensor(value.toTensor());
  }
  if (value.isTensorList() || value.isOptionalTensorList()) {
    c10::List<c10::IValue> inner = value.toList().copy();
    for (size_t i = 0; i < inner.size(); ++i) {
      inner.set(i, inner_value(inner.get(i)));
    }
    return inner;
  }
  return value;
}

// A kernel for the key Functionalize. PyTorch has none for operators that
// return what they write, so torch.compile rejects them. This one calls the
// functional variant and assigns its results to the written tensors.
class Functionalize final : public c10::OperatorKernel {
 public:
  Functionalize(std::string name, std::string overload_name)
      : name_(std::move(name)), overload_name_(std::move(overload_name)) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    namespace impl = at::functionalization::impl;
    const auto& arguments = op.schema().arguments();
    const auto values = torch::jit::pop(*stack, arguments.size());
    torch::jit::Stack all;
    torch::jit::Stack inputs;
    std::vector<at::Tensor> written;
    bool is_functional = true;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto* alias = arguments[i].alias_info();
      if (alias != nullptr && alias->isWrite()) {
        written.push_back(values[i].toTensor());
        is_functional &= impl::isFunctionalTensor(written.back());
      }
      all.push_back(inner_value(values[i]));
      if (!arguments[i].is_out()) {
        inputs.push_back(all.back());
      }
    }
    at::AutoDispatchSkipFunctionalize guard;
    if (!is_functional) {
      // What is written here is not recorded.
      op.callBoxed(all);
      for (auto& result : all) {
        stack->push_back(std::move(result));
      }
      return;
    }
    c10::Dispatcher::singleton()
        .findSchemaOrThrow(name_.c_str(), overload_name_.c_str())
        .callBoxed(inputs);
    for (size_t i = 0; i < written.size(); ++i) {
      impl::replace_(written[i], inputs[i].toTensor());
      impl::commit_update(written[i]);
      impl::sync(written[i]);
      stack->push_back(written[i]);
    }
  }

 private:
  std::string name_;
  std::string overload_name_;
};

// m.impl("scale_", mylib::fallback::functionalize("ns::scale", ""))
inline torch::CppFunction functionalize(
    std::string name,
    std::string overload_name) {
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<Functionalize>(
          std::move(name),
          std::move(overload_name)));
}

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
