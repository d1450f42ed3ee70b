#pragma once

#include "kernel_numbers.h"

#include <torch/csrc/stable/library.h>

#include <cstdint>
#include <type_traits>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// How arguments are compared: kernels may have every type that is unpacked in the
// same way, and other numbers, which are converted (`kernel_numbers.h`).
template <class Type>
using unpacked = torch::stable::detail::unbox_type_t<wide<Type>>;

// A kernel whose numbers are converted. `Named` says what errors call it.
template <class Named, auto kernel>
void call_boxed(StableIValue* stack, uint64_t inputs, uint64_t outputs) {
  try {
    TORCH_BOX(widened<kernel>())(stack, inputs, outputs);
  } catch (const out_of_range& number) {
    refuse(Named::call(), number);
  }
}

// What registers a kernel.
template <class Named, auto kernel>
constexpr auto registered() {
  if constexpr (has_wide_numbers<kernel>) {
    return &TORCH_BOX(kernel);
  } else {
    return &call_boxed<Named, kernel>;
  }
}

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
