#pragma once

#include <cstdint>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include <ATen/core/Dict.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/DispatchKeySet.h>
#include <torch/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

// Receives the lines of `logging_cpu` and `logging`; assign another function to
// send them elsewhere than to stderr.
using Sink = void (*)(const std::string& line);

inline Sink& sink() {
  static Sink current = [](const std::string& line) {
    std::cerr << line << '\n';
  };
  return current;
}

// Operators with tensors that stay in CPU memory on other devices, too: indices,
// lengths and sizes.
inline bool mixes_devices(const std::string& name) {
  static const std::set<std::string> names = {
      "aten::_ctc_loss",
      "aten::_ctc_loss_backward",
      "aten::_index_put_impl_",
      "aten::_nested_from_padded",
      "aten::_pack_padded_sequence",
      "aten::_unsafe_index",
      "aten::_unsafe_index_put",
      "aten::index",
      "aten::index_put",
      "aten::index_put_"};
  return names.count(name) != 0;
}

// Tensors of a call are on one device, or on the CPU without dimensions: those
// count as numbers. A result would be on the device of whichever comes first.
inline void check_devices(
    const c10::OperatorHandle& op,
    const torch::jit::Stack& stack) {
  std::optional<c10::Device> device;
  const auto check = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || (tensor.is_cpu() && tensor.dim() == 0)) {
      return;
    }
    TORCH_CHECK(
        device.value_or(tensor.device()) == tensor.device(),
        "Expected all tensors of ",
        op.operator_name(),
        " to be on the same device, but found at least two devices, ",
        *device,
        " and ",
        tensor.device());
    device = tensor.device();
  };
  const auto count = op.schema().arguments().size();
  for (const c10::IValue& value : torch::jit::last(stack, count)) {
    if (value.isTensor()) {
      check(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        check(tensor);
      }
    } else if (value.isOptionalTensorList()) {
      for (const auto& tensor : value.toOptionalTensorVector()) {
        check(tensor.value_or(at::Tensor()));
      }
    }
  }
}

inline void cpu_kernel(
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack) {
  for (const auto& result : op.schema().returns()) {
    const auto* alias = result.alias_info();
    TORCH_CHECK_NOT_IMPLEMENTED(
        alias == nullptr || alias->isWrite(),
        op.operator_name(),
        " returns a view, which a copy in CPU memory cannot be: ",
        "the device needs a kernel for it");
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
      op.operator_name(),
      " cannot fall back to the CPU, which has no kernel for it: ",
      "the device needs one");
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.schema().name() != "aten::native_batch_norm",
      op.operator_name(),
      " writes running statistics, which its schema conceals, ",
      "so they would be lost: the device needs a kernel for it");
  if (!mixes_devices(op.schema().name())) {
    check_devices(op, *stack);
  }
  at::native::cpu_fallback(op, stack);
}

// Runs operators on copies of their tensors in CPU memory, and copies back what
// they wrote. What copies cannot serve is refused. For all operators without a
// kernel, or for a single one:
//
//   TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
//     m.fallback(mylib::fallback::cpu());
//   }
//   TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
//     m.impl("add.Tensor", mylib::fallback::cpu());
//   }
inline torch::CppFunction cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&cpu_kernel>();
}

inline void logging_cpu_kernel(
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack) {
  sink()(c10::toString(op.operator_name()) + " runs on CPU");
  cpu_kernel(op, stack);
}

// Like `cpu`, but also logs which operators are called.
inline torch::CppFunction logging_cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&logging_cpu_kernel>();
}

struct Counts {
  std::mutex mutex;
  std::map<std::string, int64_t> calls;
};

inline Counts& counted() {
  static Counts every;
  return every;
}

inline void counting_cpu_kernel(
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack) {
  cpu_kernel(op, stack);
  const std::lock_guard<std::mutex> lock(counted().mutex);
  ++counted().calls[c10::toString(op.operator_name())];
}

// Like `cpu`, but also counts the calls of each operator.
inline torch::CppFunction counting_cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&counting_cpu_kernel>();
}

// The calls that `counting_cpu` has counted so far. A kernel can return them,
// such as that of an operator `mylib::fell_back() -> Dict(str, int)`.
inline c10::Dict<std::string, int64_t> counts() {
  const std::lock_guard<std::mutex> lock(counted().mutex);
  c10::Dict<std::string, int64_t> copy;
  for (const auto& [name, calls] : counted().calls) {
    copy.insert(name, calls);
  }
  return copy;
}

template <c10::DispatchKey key>
void logging_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) {
  std::ostringstream line;
  line << op.operator_name() << " at " << key;
  sink()(line.str());
  const auto below = c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, key);
  op.redispatchBoxed(keys & below, stack);
}

// For a key above the backends: logs which operator is called, and redispatches
// below the key.
template <c10::DispatchKey key>
torch::CppFunction logging() {
  return torch::CppFunction::makeFromBoxedFunction<&logging_kernel<key>>();
}

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
