// Kernels for Meta, whose tensors have a shape and no numbers.
#include <toy/tensor.h>

namespace toy {

Tensor unary_meta(const Tensor& self) {
  return Tensor(self.shape(), Device::Meta);
}

Tensor binary_meta(const Tensor& self, const Tensor&) {
  return unary_meta(self);
}

Tensor binary_scaled_meta(const Tensor& self, const Tensor&, double) {
  return unary_meta(self);
}

Tensor sum_meta(const Tensor&) {
  return Tensor({}, Device::Meta);
}

Tensor& fill_meta_(Tensor& self, double) {
  return self;
}

Tensor concat_meta(torchgen_lite::Span<Tensor> tensors) {
  std::size_t count = 0;
  for (const Tensor& tensor : tensors) {
    count += tensor.numel();
  }
  return Tensor({static_cast<int64_t>(count)}, Device::Meta);
}

} // namespace toy

#include <toy/verify_kernels.h>
