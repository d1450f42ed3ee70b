// The kernels for libtorch's stable ABI.
#include <torch/csrc/stable/generator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tlc {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::stable::Generator;
using torch::stable::Tensor;

// Calls an operator that has one tensor for its result, through the dispatcher.
template <class... Args>
static Tensor call(
    const char* name,
    const char* overload,
    const Args&... args) {
  std::array<StableIValue, sizeof...(Args)> stack{
      torch::stable::detail::from(args)...};
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher(name, overload, stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

// A number as a tensor without dimensions, which has no part in the dtype of a
// result but beside integers, where it is a float.
static Tensor number(const Tensor& like, double value) {
  using torch::headeronly::ScalarType;
  const ScalarType dtype = like.scalar_type();
  const bool is_integer = dtype == ScalarType::Long || dtype == ScalarType::Int;
  return torch::stable::fill_(
      torch::stable::new_empty(
          like,
          {},
          is_integer ? ScalarType::Float : dtype),
      value);
}

static Tensor times(const Tensor& a, const Tensor& b) {
  return call("aten::mul", "Tensor", a, b);
}

static Tensor plus(const Tensor& a, const Tensor& b) {
  return torch::stable::subtract(a, b, -1);
}

Tensor muladd(const Tensor& a, const Tensor& b, double s) {
  const Tensor product = times(a, b);
  return plus(product, number(product, s));
}

std::tuple<Tensor, Tensor> row_norm(
    const Tensor& x,
    const Tensor& weight,
    double eps) {
  const std::vector<int64_t> last{-1};
  const Tensor mean = call(
      "aten::mean",
      "dim",
      times(x, x),
      std::optional<std::vector<int64_t>>(last),
      false,
      std::optional<torch::headeronly::ScalarType>());
  const Tensor rstd = call("aten::rsqrt", "", plus(mean, number(mean, eps)));
  const Tensor column = call("aten::unsqueeze", "", rstd, int64_t{-1});
  const Tensor out = times(times(x, column), weight);
  // The line of axes promises contiguous results, whatever the strides of x.
  return {torch::stable::contiguous(out), torch::stable::contiguous(rstd)};
}

Tensor mm(const Tensor& a, const Tensor& b) {
  return call("aten::mm", "", a, b);
}

Tensor scale(const Tensor& self, double s) {
  return times(self, number(self, s));
}

Tensor scale_(Tensor& self, double s) {
  call("aten::mul_", "Tensor", self, number(self, s));
  return self;
}

Tensor scale_out(const Tensor& self, double s, Tensor& out) {
  torch::stable::copy_(out, scale(self, s));
  return out;
}

void axpy(Tensor& y, const Tensor& x, double s) {
  torch::stable::copy_(y, torch::stable::subtract(y, x, -s));
}

Tensor weighted_sum(
    HeaderOnlyArrayRef<Tensor> xs,
    const std::optional<Tensor>& weight) {
  Tensor total = torch::stable::clone(xs[0]);
  for (size_t i = 1; i < xs.size(); ++i)
    total = plus(total, xs[i]);
  return weight ? times(total, *weight) : total;
}

std::vector<Tensor> weighted_sum_backward(
    const Tensor& grad,
    HeaderOnlyArrayRef<Tensor> xs,
    const std::optional<Tensor>& weight) {
  std::vector<Tensor> found;
  for (size_t i = 0; i < xs.size(); ++i)
    found.push_back(weight ? times(grad, *weight) : torch::stable::clone(grad));
  return found;
}

using WithGaps = std::vector<std::optional<Tensor>>;

Tensor blend(const Tensor& x, const WithGaps& masks, double s) {
  Tensor total = torch::stable::clone(x);
  for (const std::optional<Tensor>& mask : masks)
    if (mask)
      total = plus(total, scale(times(x, *mask), s));
  return total;
}

std::vector<Tensor> blend_backward(
    const Tensor& grad,
    const WithGaps& masks,
    double s) {
  std::vector<Tensor> found;
  for (size_t i = 0; i < masks.size(); ++i)
    found.push_back(scale(grad, s));
  return found;
}

Tensor rows(const Tensor& x) {
  const Tensor kept = call("aten::any", "dim", x, int64_t{1}, false);
  const Tensor indices =
      call("aten::squeeze", "dim", call("aten::nonzero", "", kept), int64_t{1});
  return call("aten::index_select", "", x, int64_t{0}, indices);
}

Tensor drawn(const Tensor& p, const std::optional<Generator>& generator) {
  return call("aten::bernoulli", "", p, generator);
}

void log(const Tensor&, const std::string& text) {
  STD_TORCH_CHECK(write(1, text.data(), text.size()) >= 0);
}

Tensor affine(
    const Tensor& x,
    const std::optional<Tensor>& bias,
    double s,
    bool negate) {
  const Tensor scaled = scale(x, negate ? -s : s);
  return bias ? plus(scaled, *bias) : scaled;
}

Tensor gate(const Tensor& x, const Tensor& gate) {
  return times(x, gate);
}

std::vector<Tensor> halves(const Tensor& x, int64_t n, int64_t dim) {
  std::array<StableIValue, 3> stack{
      torch::stable::detail::from(x),
      torch::stable::detail::from(n),
      torch::stable::detail::from(dim)};
  STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(
      "aten::chunk",
      "",
      stack.data(),
      TORCH_ABI_VERSION));
  std::vector<Tensor> found =
      torch::stable::detail::to<std::vector<Tensor>>(stack[0]);
  for (Tensor& part : found)
    part = torch::stable::clone(part);
  return found;
}

Tensor cube(const Tensor& x) {
  return times(times(x, x), x);
}

void collect(const Tensor& x, double s, Tensor& total) {
  torch::stable::copy_(total, torch::stable::subtract(total, x, -s));
}

Tensor tally(const Tensor& x, const std::optional<Tensor>& seen) {
  if (seen)
    call("aten::copy_", "", *seen, plus(*seen, x), false);
  return plus(x, x);
}

} // namespace tlc

#include <tlc/verify_kernels.h>
