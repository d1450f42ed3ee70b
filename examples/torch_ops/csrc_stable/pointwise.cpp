// The same kernels as csrc/pointwise.cpp for the stable ABI: plain loops over contiguous memory.

#include <cmath>
#include <cstdint>
#include <tuple>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/util/Exception.h>

namespace torch_ops {

using torch::stable::Tensor;

namespace {

void check_same(const Tensor& a, const Tensor& b, const char* name) {
  STD_TORCH_CHECK(
      a.sizes().equals(b.sizes()) && a.scalar_type() == b.scalar_type(),
      name,
      ": the tensors differ in shape or dtype");
}

// The result, with the strides of this tensor, as the fake says.
Tensor laid_out_like(const Tensor& tensor, const Tensor& result) {
  if (tensor.is_contiguous()) {
    return result;
  }
  Tensor like = torch::stable::empty_like(tensor);
  return torch::stable::copy_(like, result);
}

// Writes f of each element to the element of `out`.
template <class F>
void map_into(Tensor& out, const Tensor& input, F f) {
  if (!out.is_contiguous()) {
    Tensor result = torch::stable::new_empty(input, input.sizes());
    map_into(result, input, f);
    torch::stable::copy_(out, result);
    return;
  }
  const Tensor x = torch::stable::contiguous(input);
  THO_DISPATCH_V2(
      x.scalar_type(),
      "map",
      AT_WRAP([&] {
        const auto* from = static_cast<const scalar_t*>(x.const_data_ptr());
        auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
        for (int64_t i = 0; i < x.numel(); ++i) {
          to[i] = f(from[i]);
        }
      }),
      AT_FLOATING_TYPES);
}

void scale_into(Tensor& out, const Tensor& self, double s) {
  check_same(out, self, "scale");
  map_into(out, self, [=](auto x) { return static_cast<decltype(x)>(x * s); });
}

} // namespace

Tensor muladd_cpu(const Tensor& a, const Tensor& b, double s) {
  check_same(a, b, "muladd");
  const Tensor x = torch::stable::contiguous(a);
  const Tensor y = torch::stable::contiguous(b);
  const Tensor out = torch::stable::new_empty(a, a.sizes());
  THO_DISPATCH_V2(
      a.scalar_type(),
      "muladd",
      AT_WRAP([&] {
        const auto* p = static_cast<const scalar_t*>(x.const_data_ptr());
        const auto* q = static_cast<const scalar_t*>(y.const_data_ptr());
        auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
        for (int64_t i = 0; i < out.numel(); ++i) {
          to[i] = p[i] * q[i] + static_cast<scalar_t>(s);
        }
      }),
      AT_FLOATING_TYPES);
  return laid_out_like(a, out);
}

Tensor scale_cpu(const Tensor& self, double s) {
  Tensor out = torch::stable::empty_like(self);
  scale_into(out, self, s);
  return out;
}

Tensor scale_cpu_(Tensor& self, double s) {
  scale_into(self, self, s);
  return self;
}

// Kernels may be overloads of one name.
Tensor scale_cpu(const Tensor& self, double s, Tensor& out) {
  scale_into(out, self, s);
  return out;
}

Tensor smooth_relu_cpu(const Tensor& self) {
  Tensor out = torch::stable::empty_like(self);
  map_into(out, self, [](auto x) {
    return (x + std::sqrt(x * x + decltype(x)(1))) / decltype(x)(2);
  });
  return out;
}

std::tuple<Tensor, Tensor> hinge_cpu(
    const Tensor& input,
    const Tensor& target,
    double margin) {
  check_same(input, target, "hinge needs a target for each element");
  const Tensor x = torch::stable::contiguous(input);
  const Tensor y = torch::stable::contiguous(target);
  const Tensor loss = torch::stable::new_empty(x, x.sizes());
  const Tensor is_inside = torch::stable::new_empty(
      x,
      x.sizes(),
      torch::headeronly::ScalarType::Bool);
  THO_DISPATCH_V2(
      x.scalar_type(),
      "hinge",
      AT_WRAP([&] {
        const auto* p = static_cast<const scalar_t*>(x.const_data_ptr());
        const auto* q = static_cast<const scalar_t*>(y.const_data_ptr());
        auto* to = static_cast<scalar_t*>(loss.mutable_data_ptr());
        auto* inside = static_cast<bool*>(is_inside.mutable_data_ptr());
        for (int64_t i = 0; i < loss.numel(); ++i) {
          const auto rest = static_cast<scalar_t>(margin) - p[i] * q[i];
          inside[i] = rest > 0;
          to[i] = inside[i] ? rest : scalar_t(0);
        }
      }),
      AT_FLOATING_TYPES);
  return {loss, is_inside};
}

} // namespace torch_ops

// A kernel may stand outside of every namespace: `::drift_cpu` in the YAML.
torch::stable::Tensor drift_cpu(
    const torch::stable::Tensor& x,
    const torch::stable::Tensor& saved_x,
    double _kernel) {
  using torch::stable::Tensor;
  const Tensor now = torch::stable::contiguous(x);
  const Tensor then = torch::stable::contiguous(saved_x);
  torch_ops::check_same(now, then, "drift");
  const Tensor out = torch::stable::new_empty(x, x.sizes());
  THO_DISPATCH_V2(
      x.scalar_type(),
      "drift",
      AT_WRAP([&] {
        const auto* p = static_cast<const scalar_t*>(now.const_data_ptr());
        const auto* q = static_cast<const scalar_t*>(then.const_data_ptr());
        auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
        for (int64_t i = 0; i < out.numel(); ++i) {
          const auto far = (p[i] - q[i]) / static_cast<scalar_t>(_kernel);
          to[i] = far * far;
        }
      }),
      AT_FLOATING_TYPES);
  return torch_ops::laid_out_like(x, out);
}

#include <torch_ops/verify/drift.h>
#include <torch_ops/verify/hinge.h>
#include <torch_ops/verify/muladd.h>
#include <torch_ops/verify/scale.h>
#include <torch_ops/verify/scale_.h>
#include <torch_ops/verify/scale_out.h>
#include <torch_ops/verify/smooth_relu.h>
