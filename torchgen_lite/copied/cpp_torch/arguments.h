#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorOptions.h>

#include <optional>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::detail {

inline c10::SymIntArrayRef symbolic(at::IntArrayRef numbers) {
  return c10::fromIntArrayRefSlow(numbers);
}

inline at::OptionalSymIntArrayRef symbolic(at::OptionalIntArrayRef numbers) {
  return numbers.has_value()
      ? at::OptionalSymIntArrayRef(c10::fromIntArrayRefSlow(*numbers))
      : at::OptionalSymIntArrayRef();
}

inline std::optional<c10::SymInt> symbolic(std::optional<int64_t> number) {
  return number ? std::optional<c10::SymInt>(*number) : std::nullopt;
}

// A memory format is in the options or next to them, but not in both.
inline std::optional<at::MemoryFormat> memory_format(
    const at::TensorOptions& options,
    std::optional<at::MemoryFormat> format) {
  return c10::impl::check_tensor_options_and_extract_memory_format(
      options,
      format);
}

} // namespace TORCHGEN_LITE_NAMESPACE::detail

#undef TORCHGEN_LITE_NAMESPACE
