#include <ATen/ATen.h>
#include <ad_ops/kernels.h>
namespace ad_ops {
using at::Tensor;
Tensor muladd_cpu(const Tensor& a, const Tensor& b, double s) {
  return a * b + s;
}
Tensor scale_cpu(const Tensor& self, double s) {
  return self * s;
}
Tensor& scale_cpu_(Tensor& self, double s) {
  return self.mul_(s);
}
Tensor& scale_out_cpu(const Tensor& self, double s, Tensor& out) {
  return at::mul_out(out, self, at::scalar_tensor(s, self.options()));
}
Tensor square_cpu(const Tensor& self) {
  return self * self;
}
Tensor& square_cpu_(Tensor& self) {
  return self.mul_(self);
}
Tensor& exponential_cpu_(Tensor& self) {
  return self.exp_();
}
Tensor mul_cpu(const Tensor& self, const Tensor& other) {
  return self * other;
}
Tensor mean_all_cpu(const Tensor& self) {
  return self.mean();
}
std::tuple<Tensor, Tensor, Tensor> split_parts_cpu(
    const Tensor& self,
    const at::Scalar& alpha,
    std::optional<int64_t> power) {
  return {self * power.value_or(1), self * alpha, at::argsort(self)};
}
Tensor weighted_cpu(
    at::TensorList xs,
    const std::optional<Tensor>& weight,
    std::optional<double> scale) {
  Tensor sum = at::zeros_like(xs[0]);
  for (size_t i = 0; i < xs.size(); ++i)
    sum = sum + (weight ? xs[i] * (*weight)[i] : xs[i]);
  return scale ? sum * *scale : sum;
}
Tensor diagonal_view_cpu(const Tensor& self, int64_t offset) {
  return self.diagonal(offset);
}
std::vector<Tensor> rows_cpu(const Tensor& self) {
  return self.unbind(0);
}
Tensor plain_view_cpu(const Tensor& self) {
  return self.view(-1);
}
void fill_both_cpu(Tensor& x, Tensor& y, double value) {
  x.fill_(value);
  y.fill_(value);
}
Tensor counts(const Tensor& self) {
  return self.ne(0).sum();
}

Tensor cube_cpu(const Tensor& self, bool negate) {
  return negate ? -self.pow(3) : self.pow(3);
}

Tensor a_fill_cpu(const Tensor& self, double value) {
  return at::full_like(self, value);
}

Tensor at_least_cpu(
    const Tensor& self,
    const at::Scalar& low,
    const at::Scalar& high) {
  const double factor = (high.toDouble() - low.toDouble()) / self.size(-1);
  return at::where(self > low, self * factor, at::zeros_like(self));
}
} // namespace ad_ops
