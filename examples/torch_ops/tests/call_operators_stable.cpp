// Calls every operator through the typed API, with nothing but the stable ABI; fails if a value is wrong.

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <torch_ops/functions.h>
#include <torch_ops/operators.h>

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

int failures = 0;

Tensor tensor(const std::vector<double>& values) {
  const Tensor result = torch::stable::empty(
      {static_cast<int64_t>(values.size())},
      ScalarType::Double);
  std::copy(
      values.begin(),
      values.end(),
      static_cast<double*>(result.mutable_data_ptr()));
  return result;
}

void check(const char* name, const Tensor& found, std::vector<double> wanted) {
  const Tensor values =
      torch::stable::contiguous(torch::stable::to(found, ScalarType::Double));
  const auto* data = static_cast<const double*>(values.const_data_ptr());
  bool same = values.numel() == static_cast<int64_t>(wanted.size());
  for (size_t i = 0; same && i < wanted.size(); ++i) {
    same = std::abs(data[i] - wanted[i]) < 1e-9;
  }
  if (!same) {
    std::cerr << name << " is wrong\n";
    ++failures;
  }
}

} // namespace

int main() {
  namespace functions = torch_ops::functions;
  namespace ops = torch_ops::ops;
  const Tensor x = tensor({3, 4});
  const Tensor y = tensor({1, 2});

  check("muladd", ops::muladd::call(x, y, 2.0), {5, 10});
  check("scale", ops::scale::call(x, 3.0), {9, 12});
  Tensor written = torch::stable::clone(x);
  check("scale_", ops::scale_::call(written, 3.0), {9, 12});
  Tensor out = torch::stable::empty_like(x);
  check("scale.out", ops::scale_out::call(x, 3.0, out), {9, 12});
  check("out", out, {9, 12});
  const auto [min, max] = ops::minmax::call(x);
  check("minmax, min", min, {3});
  check("minmax, max", max, {4});
  check("weighted_sum", ops::weighted_sum::call({x, y}, y, 2.0), {10, 16});
  check("squares", ops::squares::call(3, ScalarType::Int, {}), {0, 1, 4});
  const double root = std::sqrt(12.5);
  check("rms_norm", ops::rms_norm::call(x, y, 0.0), {3 / root, 8 / root});
  check(
      "smooth_relu",
      ops::smooth_relu::call(x),
      {(3 + std::sqrt(10.0)) / 2, (4 + std::sqrt(17.0)) / 2});
  const Tensor matrix = torch::stable::reshape(tensor({1, 2, 3, 4}), {2, 2});
  check("diagonal_view", ops::diagonal_view::call(matrix), {1, 4});
  const auto [loss, is_inside] = ops::hinge::call(x, y, 4.0);
  check("hinge, loss", loss, {1, 0});
  check("hinge, is_inside", is_inside, {1, 0});
  check("drift", ops::drift::call(x, y, 2.0), {1, 1});
  check("column_sums", ops::column_sums::call(matrix), {4, 6});

  // Free functions have the defaults of the schema.
  check("functions::squares", functions::squares(3), {0, 1, 4});
  check("functions::weighted_sum", functions::weighted_sum({x, y}), {4, 6});

  std::cout << failures << " failures\n";
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
