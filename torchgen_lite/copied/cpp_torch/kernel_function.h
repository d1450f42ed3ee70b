#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <type_traits>
#include <utility>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// libtorch keeps one C++ signature for an operator, and typed calls have that of
// the schema. So a kernel with other types is called with boxed arguments:
// libtorch makes of them what the kernel takes.
template <auto kernel>
void call_boxed(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) {
  static const c10::KernelFunction function =
      c10::KernelFunction::makeFromUnboxedFunction(TORCH_FN(kernel));
  function.callBoxed(op, keys, stack);
}

// What registers a kernel.
template <class Schema, auto kernel>
torch::CppFunction registered() {
  if constexpr (std::is_same_v<decltype(kernel), Schema*>) {
    return torch::CppFunction(TORCH_FN(kernel));
  } else {
    return torch::CppFunction::makeFromBoxedFunction<&call_boxed<kernel>>();
  }
}

template <class Operator, class Schema, auto kernel>
struct as_declared;

// A call of a kernel with the types of the schema.
template <class Operator, class Result, class... Arguments, auto kernel>
struct as_declared<Operator, Result(Arguments...), kernel> {
  static Result call(Arguments... arguments) {
    if constexpr (std::is_same_v<decltype(kernel), Result (*)(Arguments...)>) {
      return kernel(std::forward<Arguments>(arguments)...);
    } else {
      static const c10::KernelFunction function =
          c10::KernelFunction::makeFromBoxedFunction<&call_boxed<kernel>>();
      static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
          Operator::name,
          Operator::overload_name);
      return function.call<Result, Arguments...>(
          op,
          c10::DispatchKeySet(),
          std::forward<Arguments>(arguments)...);
    }
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
