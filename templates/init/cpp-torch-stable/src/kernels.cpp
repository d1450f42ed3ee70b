// The kernels that ops.yaml names.
#include <cstdint>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace mylib {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

template <typename T>
Tensor scaled(const Tensor& x, T factor) {
  const Tensor out = torch::stable::new_empty(x, x.sizes());
  const auto* from = static_cast<const T*>(x.const_data_ptr());
  auto* to = static_cast<T*>(out.mutable_data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = from[i] * factor;
  }
  return out;
}

Tensor scale_cpu(const Tensor& self, double factor) {
  const Tensor x = torch::stable::contiguous(self);
  if (x.scalar_type() == ScalarType::Double) {
    return scaled<double>(x, factor);
  }
  STD_TORCH_CHECK(
      x.scalar_type() == ScalarType::Float, "scale: the tensor is of neither float nor double");
  return scaled<float>(x, static_cast<float>(factor));
}

} // namespace mylib

#include <mylib/verify_kernels.h>
