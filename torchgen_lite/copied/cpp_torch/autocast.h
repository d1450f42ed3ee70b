#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/autocast_mode.h>
#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

// What a kernel casts to: a dtype, or the widest of the arguments (`promote`).
// With `dtype_argument`, tensors stay as they are, and an operator that gets no
// dtype is asked for a result in float32; its first argument is a tensor.
enum class Cast { to_dtype, promote, dtype_argument };

// A kernel for the autocast key of a device: floating-point tensors are cast,
// and the operator runs without autocast.
class Autocast final : public c10::OperatorKernel {
 public:
  Autocast(
      c10::DeviceType device,
      std::optional<at::ScalarType> dtype,
      std::optional<std::size_t> result,
      std::vector<std::size_t> only,
      Cast cast)
      : device_(device),
        dtype_(dtype),
        result_(result),
        only_(std::move(only)),
        cast_(cast) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    namespace autocast = at::autocast;
    const c10::impl::ExcludeDispatchKeyGuard guard(
        autocast::get_autocast_dispatch_key_from_device_type(device_));
    auto values = torch::jit::pop(*stack, op.schema().arguments().size());
    std::optional<at::ScalarType> before;
    if (result_ &&
        autocast::is_eligible(values[*result_].toTensor(), device_)) {
      before = values[*result_].toTensor().scalar_type();
    }
    if (cast_ == Cast::dtype_argument) {
      ask_for_float(op.schema(), values);
    } else {
      cast_tensors(values);
    }
    op.callBoxed(values);
    for (auto& value : values) {
      if (before) {
        each_tensor(value, [&](const at::Tensor& tensor) {
          return tensor.is_floating_point() ? tensor.to(*before) : tensor;
        });
      }
      stack->push_back(std::move(value));
    }
  }

 private:
  void cast_tensors(std::vector<c10::IValue>& values) const {
    namespace autocast = at::autocast;
    auto dtype = dtype_.value_or(autocast::get_autocast_dtype(device_));
    for (auto& value : values) {
      if (cast_ == Cast::promote) {
        each_tensor(value, [&](const at::Tensor& tensor) {
          dtype = autocast::prioritize(dtype, tensor, device_);
          return tensor;
        });
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (only_.empty() || std::count(only_.begin(), only_.end(), i) != 0) {
        each_tensor(values[i], [&](const at::Tensor& tensor) {
          return autocast::cached_cast(dtype, tensor, device_);
        });
      }
    }
  }

  void ask_for_float(
      const c10::FunctionSchema& schema,
      std::vector<c10::IValue>& values) const {
    if (!at::autocast::is_eligible(values[0].toTensor(), device_)) {
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (schema.arguments()[i].name() == "dtype" && values[i].isNone()) {
        values[i] = at::kFloat;
      }
    }
  }

  // A value with each of its tensors replaced.
  template <class Change>
  static void each_tensor(c10::IValue& value, const Change& change) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) {
        value = change(value.toTensor());
      }
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      c10::List<c10::IValue> elements = value.toList().copy();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        c10::IValue element = elements.get(i);
        each_tensor(element, change);
        elements.set(i, std::move(element));
      }
      value = std::move(elements);
    }
  }

  c10::DeviceType device_;
  std::optional<at::ScalarType> dtype_;
  std::optional<std::size_t> result_;
  std::vector<std::size_t> only_;
  Cast cast_;
};

// m.impl("scale", mylib::fallback::autocast(at::kCPU, at::kFloat, /*result=*/0))
// Without a dtype, that of the autocast context is used. Results get the dtype
// of the argument at position `result`, if given. Only the arguments at the
// positions `only` are cast; all, if there are none.
inline torch::CppFunction autocast(
    c10::DeviceType device,
    std::optional<at::ScalarType> dtype,
    std::optional<std::size_t> result = std::nullopt,
    std::vector<std::size_t> only = {}) {
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<Autocast>(
          device,
          dtype,
          result,
          std::move(only),
          Cast::to_dtype));
}

// m.impl("dot", mylib::fallback::autocast(at::kCPU, mylib::fallback::Cast::promote))
inline torch::CppFunction autocast(c10::DeviceType device, Cast cast) {
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<Autocast>(
          device,
          std::nullopt,
          std::nullopt,
          std::vector<std::size_t>(),
          cast));
}

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
