// Kernels for CPU.
#include <toy/tensor.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace toy {
namespace {

template <class Function>
Tensor elementwise(const Tensor& a, const Tensor& b, Function function) {
  if (a.shape() != b.shape()) {
    throw std::invalid_argument("the shapes differ");
  }
  Tensor out(a.shape(), Device::CPU);
  std::transform(
      a.data(),
      a.data() + a.numel(),
      b.data(),
      out.data(),
      function);
  return out;
}

} // namespace

Tensor add_cpu(const Tensor& self, const Tensor& other, double alpha) {
  const float scale = static_cast<float>(alpha);
  return elementwise(self, other, [scale](float a, float b) {
    return a + scale * b;
  });
}

Tensor mul_cpu(const Tensor& self, const Tensor& other) {
  return elementwise(self, other, [](float a, float b) { return a * b; });
}

Tensor relu_cpu(const Tensor& self) {
  return elementwise(self, self, [](float a, float) {
    return std::max(a, 0.0F);
  });
}

Tensor sum_cpu(const Tensor& self) {
  Tensor out({}, Device::CPU);
  *out.data() = std::accumulate(self.data(), self.data() + self.numel(), 0.0F);
  return out;
}

Tensor& fill_cpu_(Tensor& self, double value) {
  std::fill_n(self.data(), self.numel(), static_cast<float>(value));
  return self;
}

Tensor concat_cpu(torchgen_lite::Span<Tensor> tensors) {
  std::size_t count = 0;
  for (const Tensor& tensor : tensors) {
    count += tensor.numel();
  }
  Tensor out({static_cast<int64_t>(count)}, Device::CPU);
  float* place = out.data();
  for (const Tensor& tensor : tensors) {
    place = std::copy_n(tensor.data(), tensor.numel(), place);
  }
  return out;
}

} // namespace toy

#include <toy/verify_kernels.h>
