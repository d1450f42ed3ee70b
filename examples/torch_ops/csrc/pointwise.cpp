// Element by element: muladd, scale in its three variants, smooth_relu.

#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/ops/empty_like.h>

namespace torch_ops {

namespace {

at::Tensor& scale_into(at::Tensor& out, const at::Tensor& self, double s) {
  auto iterator =
      at::TensorIteratorConfig().add_output(out).add_const_input(self).build();
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "scale", [&] {
    const auto factor = static_cast<scalar_t>(s);
    at::native::cpu_kernel(iterator, [=](scalar_t x) { return x * factor; });
  });
  return out;
}

void check_muladd(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(
      a.sym_sizes() == b.sym_sizes() && a.scalar_type() == b.scalar_type(),
      "muladd: a and b differ in shape or dtype");
}

} // namespace

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s) {
  check_muladd(a, b);
  at::Tensor out;
  auto iterator = at::TensorIteratorConfig()
                      .add_output(out)
                      .add_const_input(a)
                      .add_const_input(b)
                      .build();
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "muladd", [&] {
    const auto addend = static_cast<scalar_t>(s);
    at::native::cpu_kernel(iterator, [=](scalar_t x, scalar_t y) {
      return x * y + addend;
    });
  });
  return iterator.output();
}

at::Tensor scale_cpu(const at::Tensor& self, double s) {
  at::Tensor out = at::empty_like(self);
  return scale_into(out, self, s);
}

at::Tensor& scale_cpu_(at::Tensor& self, double s) {
  return scale_into(self, self, s);
}

at::Tensor& scale_out_cpu(const at::Tensor& self, double s, at::Tensor& out) {
  return scale_into(out, self, s);
}

at::Tensor smooth_relu_cpu(const at::Tensor& self) {
  at::Tensor out;
  auto iterator =
      at::TensorIteratorConfig().add_output(out).add_const_input(self).build();
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "smooth_relu", [&] {
    at::native::cpu_kernel(iterator, [](scalar_t x) {
      return (x + std::sqrt(x * x + scalar_t(1))) / scalar_t(2);
    });
  });
  return iterator.output();
}

} // namespace torch_ops

#include <torch_ops/verify/muladd.h>
#include <torch_ops/verify/scale.h>
#include <torch_ops/verify/scale_.h>
#include <torch_ops/verify/scale_out.h>
#include <torch_ops/verify/smooth_relu.h>
