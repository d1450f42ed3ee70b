#pragma once

#include "version.h"

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/native/Resize.h>

#include <array>
#include <optional>
#include <type_traits>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::structured {

inline at::OptionalTensorRef reference(const std::optional<at::Tensor>& given) {
  const bool is_there = given.has_value() && given->defined();
  return is_there ? at::OptionalTensorRef(*given) : at::OptionalTensorRef();
}

inline at::OptionalScalarRef reference(const std::optional<at::Scalar>& given) {
  return given ? at::OptionalScalarRef(*given) : at::OptionalScalarRef();
}

// A kernel whose outputs have no names. Before 2.13, dimensions could have some.
template <class Kernel>
struct Unnamed : public Kernel {
#if TORCHGEN_LITE_TORCH_VERSION < 21300
  virtual void set_output_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) = 0;
  void set_output_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options,
      at::DimnameList /*names*/) final {
    set_output_strided(index, sizes, strides, options);
  }

  virtual void set_output_raw_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) = 0;
  void set_output_raw_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options,
      at::DimnameList /*names*/) final {
    set_output_raw_strided(index, sizes, strides, options);
  }
#endif

 protected:
  // An iterator has to know its outputs.
  void announce(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      const at::TensorOptions& options) {
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Kernel>) {
#if TORCHGEN_LITE_TORCH_VERSION < 21300
      Kernel::set_output_raw_strided(index, sizes, strides, options, {});
#else
      Kernel::set_output_raw_strided(index, sizes, strides, options);
#endif
    }
  }
};

// The functional variant: outputs are made.
template <class Kernel, size_t count>
struct Functional final : public Unnamed<Kernel> {
  void set_output_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) override {
    set_output_raw_strided(index, sizes, strides, options);
  }

  void set_output_raw_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) override {
    outputs[index] = strides.empty()
        ? at::empty(sizes, options)
        : at::empty_strided(sizes, strides, options);
    this->announce(index, sizes, strides, options);
  }

  const at::Tensor& maybe_get_output(int64_t index) override {
    return outputs[index];
  }

  std::array<at::Tensor, count> outputs;
};

inline void check_inplace(
    const at::Tensor& self,
    at::IntArrayRef sizes,
    const at::TensorOptions& options) {
  TORCH_CHECK(
      options.dtype() == self.dtype() && options.device() == self.device(),
      "the result is ",
      options.dtype(),
      " on ",
      options.device(),
      ", and a tensor of ",
      self.dtype(),
      " on ",
      self.device(),
      " can't be changed to it in place");
  TORCH_CHECK(
      sizes == self.sizes(),
      "the result has the shape ",
      sizes,
      ", and a tensor of shape ",
      self.sizes(),
      " can't be changed to it in place");
}

inline void resize(
    const at::Tensor& out,
    at::IntArrayRef sizes,
    at::IntArrayRef strides,
    const at::TensorOptions& options) {
  TORCH_CHECK(
      options.dtype() == out.dtype() && options.device() == out.device(),
      "the result is ",
      options.dtype(),
      " on ",
      options.device(),
      ", and the out argument is ",
      out.dtype(),
      " on ",
      out.device());
  if (!at::native::resize_output(out, sizes)) {
    return;
  }
  const auto format = options.memory_format_opt();
  if (!strides.empty()) {
    out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  } else if (format.has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
}

} // namespace TORCHGEN_LITE_NAMESPACE::structured

#undef TORCHGEN_LITE_NAMESPACE
