// The kernels that ops.yaml names.
#include <cstdint>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace mylib {

using torch::stable::Tensor;

Tensor scale_cpu(const Tensor& self, double factor) {
  STD_TORCH_CHECK(
      self.scalar_type() == torch::headeronly::ScalarType::Float,
      "scale: the tensor is not of type float");
  const Tensor x = torch::stable::contiguous(self);
  const Tensor out = torch::stable::new_empty(x, x.sizes());
  const auto* from = static_cast<const float*>(x.const_data_ptr());
  auto* to = static_cast<float*>(out.mutable_data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = static_cast<float>(from[i] * factor);
  }
  return out;
}

} // namespace mylib

#include <mylib/verify_kernels.h>
