#pragma once

#include "kernel_numbers.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#define TORCHGEN_LITE_NAMESPACE mylib
#ifdef __GNUC__
#define TORCHGEN_LITE_HIDDEN __attribute__((visibility("hidden")))
#else
#define TORCHGEN_LITE_HIDDEN
#endif

namespace TORCHGEN_LITE_NAMESPACE::proof {

// Raises a ValueError about a number that the type of an argument, or of a result,
// cannot hold.
[[noreturn]] inline void refuse(
    const c10::OperatorHandle& op,
    const out_of_range& number) {
  std::string argument;
  if (number.place >= 0) {
    const auto place = static_cast<std::size_t>(number.place);
    argument = op.schema().arguments().at(place).name();
  }
  TORCH_CHECK_VALUE(false, op.operator_name(), ": ", said(number, argument));
}

// libtorch keeps one C++ signature for an operator, and typed calls have that of
// the schema. So a kernel with other types is called with boxed arguments:
// libtorch makes of them what the kernel takes, and numbers of other types are
// converted. Libraries in one process may have kernels of one name: what is kept
// for a kernel is each library's own.
template <auto kernel>
TORCHGEN_LITE_HIDDEN void call_boxed(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) {
  static const c10::KernelFunction function =
      c10::KernelFunction::makeFromUnboxedFunction(TORCH_FN(widened<kernel>()));
  try {
    function.callBoxed(op, keys, stack);
  } catch (const out_of_range& number) {
    refuse(op, number);
  }
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

#undef TORCHGEN_LITE_HIDDEN
#undef TORCHGEN_LITE_NAMESPACE
