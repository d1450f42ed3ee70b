// The kernels of ops.yaml, as an author writes them.
#include <tiny/functions.h>

#include <torch/csrc/stable/ops.h>

#include <sstream>

namespace tiny {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::stable::Tensor;

Tensor muladd_cpu(const Tensor& a, const Tensor& b, double s) {
  Tensor result = torch::stable::empty_like(a);
  const float* x = a.const_data_ptr<float>();
  const float* y = b.const_data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < a.numel(); ++i) {
    out[i] = x[i] * y[i] + static_cast<float>(s);
  }
  return result;
}

Tensor scale_(Tensor& self, double s) {
  float* data = self.mutable_data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) {
    data[i] *= static_cast<float>(s);
  }
  return self;
}

Tensor scale_out(const Tensor& self, double s, Tensor& out) {
  torch::stable::copy_(out, self);
  return functions::scale_(out, s);
}

std::tuple<Tensor, Tensor> both(const Tensor& self) {
  Tensor doubled = torch::stable::empty_like(self);
  functions::scale_out(doubled, self);
  return {self, doubled};
}

std::vector<Tensor> weighted(
    HeaderOnlyArrayRef<Tensor> xs,
    const std::optional<Tensor>& weight,
    std::optional<double> scale) {
  std::vector<Tensor> results;
  for (const Tensor& x : xs) {
    results.push_back(
        functions::muladd(x, weight ? *weight : x, scale.value_or(0)));
  }
  return results;
}

Tensor twice(const Tensor& x) {
  Tensor copy = torch::stable::empty_like(x);
  return functions::scale_out(copy, x);
}

int64_t twice(int64_t twice) {
  return 2 * twice;
}

std::vector<std::vector<int64_t>> nested(
    const std::vector<std::vector<int64_t>>& table) {
  return table;
}

std::optional<double> bounded(double x, double limit) {
  return x <= limit ? std::optional<double>(x) : std::nullopt;
}

std::tuple<Tensor, std::optional<Tensor>, std::string, std::vector<int64_t>>
mixed(const Tensor& x, const std::string& name) {
  return {x, std::nullopt, name + "!", {x.dim(), x.numel()}};
}

std::string kinds(
    const std::vector<std::vector<int64_t>>& table,
    const std::vector<std::optional<Tensor>>& rest,
    HeaderOnlyArrayRef<int64_t> size,
    const std::optional<std::vector<int64_t>>& steps,
    const std::string& mode,
    const std::vector<bool>& flags,
    const std::optional<std::vector<bool>>& more,
    torch::headeronly::ScalarType dtype,
    std::optional<torch::headeronly::MemoryFormat> format,
    torch::headeronly::Layout layout,
    std::optional<torch::stable::Device> device,
    const std::optional<std::string>& name,
    double limit) {
  std::ostringstream text;
  text << mode << ' ' << name.value_or("-") << ' ' << static_cast<int>(dtype)
       << ' ' << (format ? static_cast<int>(*format) : -1) << ' '
       << static_cast<int>(layout) << ' ' << (device ? device->index() : -2);
  for (bool flag : flags) {
    text << (flag ? " yes" : " no");
  }
  for (bool flag : more.value_or(std::vector<bool>())) {
    text << (flag ? " Yes" : " No");
  }
  for (const auto& tensor : rest) {
    text << ' ' << (tensor ? tensor->numel() : -1);
  }
  for (int64_t extent : size) {
    text << ' ' << extent;
  }
  for (int64_t step : steps.value_or(std::vector<int64_t>())) {
    text << ' ' << step;
  }
  for (const auto& row : table) {
    text << ' ' << row.size();
  }
  text << (limit < 1000 ? " bounded" : " free");
  return text.str();
}

std::string relay(
    const std::vector<std::vector<int64_t>>& table,
    const std::vector<std::optional<Tensor>>& rest,
    HeaderOnlyArrayRef<int64_t> size,
    const std::optional<std::vector<int64_t>>& steps,
    const std::string& mode,
    const std::vector<bool>& flags,
    const std::optional<std::vector<bool>>& more,
    torch::headeronly::ScalarType dtype,
    std::optional<torch::headeronly::MemoryFormat> format,
    torch::headeronly::Layout layout,
    std::optional<torch::stable::Device> device,
    const std::optional<std::string>& name,
    double limit) {
  if (mode == "defaults") {
    return functions::kinds({}, {});
  }
  // Results that are lists and options come back whole.
  if (functions::nested(table).size() != table.size() ||
      functions::bounded(limit, limit) != limit ||
      functions::bounded(limit, limit / 2).has_value()) {
    return "lost";
  }
  return functions::kinds(
      table,
      rest,
      size,
      steps,
      mode,
      flags,
      more,
      dtype,
      format,
      layout,
      device,
      name,
      limit);
}

} // namespace tiny

namespace other {

void fill_(torch::stable::Tensor& self, bool value) {
  torch::stable::fill_(self, value ? 1 : 0);
}

} // namespace other

#include <tiny/verify_kernels.h>
