#pragma once

#include "kernel_numbers.h"

#include <type_traits>
#include <utility>

#include <torchgen_lite/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

template <class Named, class Schema, auto kernel>
struct checked;

// A kernel whose numbers are converted. `Named` says what errors call it.
template <class Named, class Result, class... Arguments, auto kernel>
struct checked<Named, Result(Arguments...), kernel> {
  using type = std::remove_const_t<decltype(kernel)>;

  static Result call(Arguments... arguments) {
    try {
      return converting<Result(Arguments...), type>::template call<kernel>(
          std::forward<Arguments>(arguments)...);
    } catch (const out_of_range& number) {
      refuse(Named::call(), number);
    }
  }
};

// What registers a kernel.
template <class Named, auto kernel, class Schema>
constexpr auto registered() {
  using torchgen_lite::detail::Constant;
  if constexpr (
      std::is_same_v<std::remove_const_t<decltype(kernel)>, Schema*>) {
    return Constant<Schema*, kernel>();
  } else {
    return Constant<Schema*, &checked<Named, Schema, kernel>::call>();
  }
}

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
