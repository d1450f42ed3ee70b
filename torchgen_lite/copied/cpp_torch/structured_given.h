#pragma once

#include "structured_outputs.h"

#include <functional>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::structured {

// The in-place and out variants: outputs are given. Temporary ones are made if
// the kernel requires strides that the given ones do not have.
template <class Kernel, size_t count, bool is_inplace>
struct Given : public Unnamed<Kernel> {
  using Outputs = std::array<std::reference_wrapper<const at::Tensor>, count>;

  explicit Given(Outputs outputs) : outputs(outputs) {}

  void set_output_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    const at::Tensor& output = outputs[index];
    if (!strides.empty() && output.strides() != strides) {
      made[index] = at::empty_strided(sizes, strides, options);
    }
    this->announce(index, sizes, strides, options);
  }

  void set_output_raw_strided(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    this->announce(index, sizes, strides, options);
  }

  const at::Tensor& maybe_get_output(int64_t index) override {
    return made[index].has_value() ? *made[index] : outputs[index].get();
  }

  // Temporary outputs are copied to the given ones.
  void finish() {
    for (size_t index = 0; index < count; ++index) {
      if (made[index].has_value()) {
        outputs[index].get().copy_(*made[index]);
      }
    }
  }

 private:
  void prepare(
      int64_t index,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      const at::TensorOptions& options) {
    if constexpr (is_inplace) {
      check_inplace(outputs[index], sizes, options);
    } else {
      resize(outputs[index], sizes, strides, options);
    }
  }

  Outputs outputs;
  std::array<std::optional<at::Tensor>, count> made;
};

template <class Kernel, size_t count>
using Inplace = Given<Kernel, count, true>;

template <class Kernel, size_t count>
using Out = Given<Kernel, count, false>;

} // namespace TORCHGEN_LITE_NAMESPACE::structured

#undef TORCHGEN_LITE_NAMESPACE
