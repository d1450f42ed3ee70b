#include "kernels.h"

namespace adopt {

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s) {
  return a * b + s;
}

at::Tensor muladd_meta(const at::Tensor& a, const at::Tensor& b, double s) {
  return at::empty_like(a);
}

at::Tensor scale_out(at::Tensor x, double s, at::Tensor out) {
  return out.copy_(x * s);
}

void fill_cpu(at::Tensor x, at::Scalar value) {
  x.fill_(value);
}

std::tuple<at::Tensor, int64_t> count(
    const at::Tensor& x,
    std::optional<int64_t> dim) {
  return {dim ? x.sum(*dim) : x.sum(), x.numel()};
}

at::Tensor norm(at::Tensor x, const std::string& kind) {
  return kind == "max" ? x.abs().max() : x.norm();
}

at::Tensor total(const std::vector<at::Tensor>& xs) {
  return at::stack(xs).sum();
}

at::Tensor Selection::pick(at::Tensor x, std::vector<int64_t> indices) {
  return x.index_select(0, at::tensor(indices));
}

std::vector<at::Tensor> halves(const at::Tensor& x) {
  std::vector<at::Tensor> parts;
  for (const auto& part : x.chunk(2)) {
    parts.push_back(part.clone());
  }
  return parts;
}

at::Tensor sum_all(at::Tensor& x) {
  return x.sum();
}

at::Tensor pack_2bit(const at::Tensor& x, int64_t size) {
  return x * size + 2;
}

at::Tensor pack_4bit(const at::Tensor& x, int64_t size) {
  return x * size + 4;
}

at::Tensor maybe_add(at::Tensor x, std::optional<at::Tensor> y) {
  return y ? x + *y : x.clone();
}

at::Tensor cast(const at::Tensor& x, at::ScalarType dtype) {
  return x.to(dtype);
}

bool is_even(int64_t n) {
  return n % 2 == 0;
}

at::Tensor under_condition(const at::Tensor& x) {
  return x + 1;
}

at::Tensor detail::inferred(
    const at::Tensor& x,
    int64_t k,
    bool flag,
    c10::string_view name) {
  return flag ? x * k : x + static_cast<int64_t>(name.size());
}

at::Tensor ops_of_mine::twice(const at::Tensor& x) {
  return x * 2;
}

} // namespace adopt

at::Tensor adopt_thrice(const at::Tensor& x) {
  return x * 3;
}
