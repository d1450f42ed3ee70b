// Kernels that serve every device.
#include <toy/functions.h>

namespace toy {

Tensor full(torchgen_lite::Span<int64_t> size, double value, Device device) {
  Tensor out(size.vec(), device);
  return out.fill_(value);
}

Tensor affine(
    const Tensor& x,
    const Tensor& weight,
    const std::optional<Tensor>& bias) {
  const Tensor product = x.mul(weight);
  return bias.has_value() ? product.add(*bias) : product;
}

} // namespace toy

#include <toy/verify_kernels.h>
