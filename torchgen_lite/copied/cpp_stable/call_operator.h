#pragma once

#include "version.h"

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::detail {

template <class T>
StableIValue box(const T& value) {
  return torch::stable::detail::from(value);
}

// PyTorch's headers cannot pack a std::vector<bool>. A byte is read as a bool.
inline StableIValue box(const std::vector<bool>& values) {
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  return torch::stable::detail::from(bytes);
}

inline StableIValue box(const std::optional<std::vector<bool>>& values) {
  std::optional<std::vector<uint8_t>> bytes;
  if (values) {
    bytes.emplace(values->begin(), values->end());
  }
  return torch::stable::detail::from(bytes);
}

template <class Result>
struct Results {
  static constexpr std::size_t count = 1;

  static Result unbox(const StableIValue* stack) {
    return torch::stable::detail::to<Result>(stack[0]);
  }
};

template <>
struct Results<void> {
  static constexpr std::size_t count = 0;

  static void unbox(const StableIValue* /*stack*/) {}
};

template <class... Types>
struct Results<std::tuple<Types...>> {
  static constexpr std::size_t count = sizeof...(Types);

  static std::tuple<Types...> unbox(const StableIValue* stack) {
    return unbox_all(stack, std::index_sequence_for<Types...>());
  }

 private:
  template <std::size_t... I>
  static std::tuple<Types...> unbox_all(
      const StableIValue* stack,
      std::index_sequence<I...> /*indices*/) {
    return std::tuple<Types...>{torch::stable::detail::to<Types>(stack[I])...};
  }
};

inline void call_dispatcher(
    const char* name,
    const char* overload_name,
    StableIValue* stack) {
#if TORCHGEN_LITE_STABLE_VERSION >= 21000
  const AOTITorchError error =
      torch_call_dispatcher(name, overload_name, stack, TORCH_ABI_VERSION);
#else
  const AOTITorchError error =
      aoti_torch_call_dispatcher(name, overload_name, stack);
#endif
  if (error == TORCH_SUCCESS) {
    return;
  }
#if TORCHGEN_LITE_STABLE_VERSION >= 21300
  throw std::runtime_error(torch_exception_get_what_without_backtrace());
#else
  throw std::runtime_error(std::string("the call of ") + name + " failed");
#endif
}

template <class Operator, class Schema>
struct Calls;

// The typed call of an operator. It is compiled only if it is used.
template <class Operator, class Result, class... Arguments>
struct Calls<Operator, Result(Arguments...)> {
  using schema = Result(Arguments...);

  static Result call(Arguments... arguments) {
    using Returned = Results<Result>;
    constexpr std::size_t size =
        std::max({sizeof...(Arguments), Returned::count, std::size_t(1)});
    std::array<StableIValue, size> stack{box(arguments)...};
    call_dispatcher(Operator::name, Operator::overload_name, stack.data());
    return Returned::unbox(stack.data());
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::detail

#undef TORCHGEN_LITE_NAMESPACE
