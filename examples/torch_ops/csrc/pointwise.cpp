// Element by element: muladd, scale in its three variants, smooth_relu, hinge, drift.

#include <cmath>
#include <tuple>

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
  at::Tensor out = at::empty_like(a);
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
  return out;
}

at::Tensor scale_cpu(const at::Tensor& self, double s) {
  at::Tensor out = at::empty_like(self);
  return scale_into(out, self, s);
}

at::Tensor& scale_cpu_(at::Tensor& self, double s) {
  return scale_into(self, self, s);
}

// Kernels may be overloads of one name.
at::Tensor& scale_cpu(const at::Tensor& self, double s, at::Tensor& out) {
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

std::tuple<at::Tensor, at::Tensor> hinge_cpu(
    const at::Tensor& input,
    const at::Tensor& target,
    double margin) {
  TORCH_CHECK(
      input.sym_sizes() == target.sym_sizes() &&
          input.scalar_type() == target.scalar_type(),
      "hinge needs a target for each element");
  const at::Tensor loss =
      at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
  const at::Tensor is_inside = at::empty_like(
      input,
      input.options().dtype(at::kBool),
      at::MemoryFormat::Contiguous);
  auto iterator = at::TensorIteratorConfig()
                      .add_output(loss)
                      .add_output(is_inside)
                      .add_const_input(input)
                      .add_const_input(target)
                      .check_all_same_dtype(false)
                      .build();
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "hinge", [&] {
    const auto width = static_cast<scalar_t>(margin);
    at::native::cpu_kernel_multiple_outputs(
        iterator,
        [=](scalar_t x, scalar_t y) -> std::tuple<scalar_t, bool> {
          const scalar_t rest = width - x * y;
          return {rest > 0 ? rest : scalar_t(0), rest > 0};
        });
  });
  return {loss, is_inside};
}

} // namespace torch_ops

// A kernel may stand outside of every namespace: `::drift_cpu` in the YAML.
at::Tensor drift_cpu(
    const at::Tensor& x,
    const at::Tensor& saved_x,
    double _kernel) {
  at::Tensor out = at::empty_like(x);
  auto iterator = at::TensorIteratorConfig()
                      .add_output(out)
                      .add_const_input(x)
                      .add_const_input(saved_x)
                      .build();
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "drift", [&] {
    const auto width = static_cast<scalar_t>(_kernel);
    at::native::cpu_kernel(iterator, [=](scalar_t now, scalar_t then) {
      const scalar_t far = (now - then) / width;
      return far * far;
    });
  });
  return out;
}

#include <torch_ops/verify/drift.h>
#include <torch_ops/verify/hinge.h>
#include <torch_ops/verify/muladd.h>
#include <torch_ops/verify/scale.h>
#include <torch_ops/verify/scale_.h>
#include <torch_ops/verify/scale_out.h>
#include <torch_ops/verify/smooth_relu.h>
