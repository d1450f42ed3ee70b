#include <ATen/ATen.h>
#include <ad_ops/redispatch_functions.h>

#include "weight.h"

namespace ad_ops {

using at::Tensor;

Tensor muladd_kernel(const Tensor& a, const Tensor& b, double s) {
  return a * b + s;
}

Tensor scale_kernel(const Tensor& self, double s) {
  return self * s;
}

Tensor& scale_kernel_(Tensor& self, double s) {
  return self.mul_(s);
}

Tensor& scale_out_kernel(const Tensor& self, double s, Tensor& out) {
  return at::mul_out(out, self, at::scalar_tensor(s, self.options()));
}

Tensor tilt_kernel(const Tensor& x, const Tensor& w) {
  return x * w;
}

Tensor& tilt_out_kernel(const Tensor& x, const Tensor& w, Tensor& out) {
  return at::mul_out(out, x, w);
}

Tensor square_kernel(const Tensor& self) {
  return self * self;
}

Tensor& square_kernel_(Tensor& self) {
  return self.mul_(self);
}

Tensor& exponential_kernel_(Tensor& self) {
  return self.exp_();
}

Tensor mul_kernel(const Tensor& self, const Tensor& other) {
  return self * other;
}

Tensor mean_all_kernel(const Tensor& self) {
  return self.mean();
}

std::tuple<Tensor, Tensor, Tensor> split_parts_kernel(
    const Tensor& self,
    const at::Scalar& alpha,
    std::optional<int64_t> power) {
  return {self * power.value_or(1), self * alpha, at::argsort(self)};
}

Tensor weighted_kernel(
    at::TensorList xs,
    const std::optional<Tensor>& weight,
    std::optional<double> scale) {
  Tensor sum = at::zeros_like(xs[0]);
  for (size_t i = 0; i < xs.size(); ++i)
    sum = sum + (weight ? xs[i] * (*weight)[i] : xs[i]);
  return scale ? sum * *scale : sum;
}

Tensor diagonal_view_kernel(const Tensor& self, int64_t offset) {
  return self.diagonal(offset);
}

std::vector<Tensor> rows_kernel(const Tensor& self) {
  return self.unbind(0);
}

Tensor plain_view_kernel(const Tensor& self) {
  return self.view(-1);
}

void fill_both_kernel(Tensor& x, Tensor& y, double value) {
  x.fill_(value);
  y.fill_(value);
}

Tensor counts(const Tensor& self) {
  return self.ne(0).sum();
}

Tensor cube_kernel(const Tensor& self, bool negate) {
  return negate ? -self.pow(3) : self.pow(3);
}

Tensor a_fill_kernel(const Tensor& self, double value) {
  return at::full_like(self, value);
}

Tensor at_least_kernel(
    const Tensor& self,
    const at::Scalar& low,
    const at::Scalar& high) {
  const double factor = (high.toDouble() - low.toDouble()) / self.size(-1);
  return at::where(self > low, self * factor, at::zeros_like(self));
}
Tensor grow_kernel(const Tensor& self) {
  return self.exp();
}

std::tuple<Tensor, Tensor> twice_thrice_kernel(const Tensor& self) {
  return {self * 2, self * 3};
}

Tensor affine_kernel(
    const Tensor& x,
    const Tensor& weight,
    const Tensor& bias,
    const Tensor& mask) {
  return (x.matmul(weight) + bias) * mask;
}

int64_t calls = 0;

int64_t tripled_calls() {
  return calls;
}

Tensor tripled_cpu(const Tensor& self) {
  return self * 3;
}

Tensor tripled_autograd(const Tensor& self) {
  ++calls;
  const c10::DispatchKeySet below(c10::DispatchKey::CPU);
  return redispatch::tripled(below, self);
}

Tensor recent_kernel(const Tensor& self) {
  return self * 5;
}

std::vector<Tensor> doubled(at::TensorList ys) {
  std::vector<Tensor> found;
  for (const auto& y : ys)
    found.push_back(y * 2);
  return found;
}

std::tuple<std::vector<Tensor>, Tensor> list_first_kernel(
    at::TensorList ys,
    const Tensor& x) {
  return {doubled(ys), x * 5};
}

std::tuple<Tensor, std::vector<Tensor>, Tensor> list_between_kernel(
    const Tensor& x,
    at::TensorList ys) {
  return {x * 5, doubled(ys), x * 7};
}

Tensor odd_names_kernel(
    const Tensor& node,
    const Tensor& factor,
    int64_t size,
    double linear,
    const Tensor& op,
    const Tensor& other,
    at::Device device) {
  return (node * factor * size + op * linear + other).to(device);
}

Tensor apart_kernel(
    const Tensor& x,
    const Tensor& saved,
    int64_t factor,
    at::TensorList ys,
    int64_t count) {
  Tensor total = x * saved * (factor * x.size(0));
  for (const auto& y : ys)
    total = total + y.sum() * count;
  return total;
}

std::tuple<Tensor, Tensor> exact_kernel(
    const Tensor& x,
    at::TensorList ys,
    const std::optional<Tensor>& w) {
  TORCH_CHECK(x.scalar_type() == ys[0].scalar_type());
  TORCH_CHECK(!w || w->scalar_type() == x.scalar_type());
  return {x + ys[0], (x > 0).to(at::kLong)};
}

// The dtype of each tensor, as libtorch numbers them.
std::vector<int64_t> dtypes_kernel(
    const Tensor& x,
    const Tensor& weight,
    at::TensorList ys) {
  std::vector<int64_t> found = {
      int64_t(x.scalar_type()),
      int64_t(weight.scalar_type())};
  for (const auto& y : ys) {
    found.push_back(int64_t(y.scalar_type()));
  }
  return found;
}

Tensor rough_kernel(
    const Tensor& x,
    const c10::List<std::optional<Tensor>>& ys) {
  const std::optional<Tensor> last = ys[ys.size() - 1];
  TORCH_CHECK(last && last->scalar_type() == x.scalar_type());
  return x + *last;
}

Tensor counted_kernel(const Tensor& x, const Tensor& y) {
  return x * (y.size(0) * y.size(-1));
}

Tensor gated_kernel(const Tensor& x, const Tensor& result) {
  return x * result;
}

Tensor masked_kernel(
    const Tensor& x,
    const Tensor& mask,
    at::TensorList parts,
    const std::optional<Tensor>& weight,
    double s) {
  return x * mask * parts[0] * (weight ? *weight : mask) * s;
}

Tensor maybe_total_kernel(const Tensor& x, std::optional<at::TensorList> ys) {
  Tensor total = x.clone();
  if (ys)
    for (const auto& y : *ys)
      total = total + y;
  return total;
}

Tensor scaled_kernel(const Tensor& self, const Tensor& other, double s) {
  return self * other * s;
}

Tensor halved_kernel(
    const Tensor& self,
    int64_t by,
    const std::optional<Tensor>& bias) {
  return bias ? self / by + *bias : self / by;
}

Tensor waves_kernel(const Tensor& self) {
  return self.sin();
}

Tensor& waves_kernel_(Tensor& self) {
  return self.sin_();
}

std::tuple<Tensor, std::vector<Tensor>> raised_kernel(
    const Tensor& self,
    at::TensorList ys) {
  return {self.exp(), doubled(ys)};
}

Tensor scale_two(const Tensor& x) {
  return x * 2;
}

Tensor joined_kernel(const Tensor& x, at::TensorList ys) {
  return x + ys[0];
}

// As a kernel that computes with pointers, which no derivative goes through.
Tensor twin_kernel(const Tensor& x) {
  return x.detach() * 2;
}

void store_kernel(const Tensor& x, Tensor& y) {
  y.detach().copy_(x.detach());
}

std::tuple<std::vector<Tensor>, Tensor> twins_kernel(at::TensorList xs) {
  std::vector<Tensor> found;
  for (const auto& x : xs)
    found.push_back(twin_kernel(x));
  return {found, at::zeros({2}, at::kLong)};
}

Tensor signs_kernel(const Tensor& x) {
  return x.gt(0);
}

using Weight = c10::intrusive_ptr<scales::Weight>;

Tensor weigh_kernel(
    const Tensor& x,
    const Weight& by,
    std::optional<Weight> then) {
  return x * by->value * (then ? (*then)->value : 1.0);
}

std::tuple<Weight, int64_t> joint_kernel(at::ArrayRef<Weight> parts) {
  double value = 1.0;
  for (const auto& part : parts)
    value *= part->value;
  return {c10::make_intrusive<scales::Weight>(value), parts.size()};
}

// A class comes before the operators that take it.
TORCH_LIBRARY_FRAGMENT(ad_ops, m) {
  m.class_<scales::Weight>("Weight")
      .def(torch::init<double>())
      .def_property("value", [](const Weight& self) { return self->value; });
}

} // namespace ad_ops

#include <ad_ops/verify_kernels.h>
