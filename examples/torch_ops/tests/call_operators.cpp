// Calls every operator through the typed API; fails if a value is wrong.

#include <cstdlib>
#include <iostream>
#include <string>
#include <tuple>

#include <ATen/ATen.h>

#include <torch_ops/functions.h>
#include <torch_ops/operators.h>

namespace {

int failures = 0;

void check(
    const char* name,
    const at::Tensor& found,
    const at::Tensor& wanted) {
  if (!at::allclose(found, wanted)) {
    std::cerr << name << ": found\n" << found << "\nwanted\n" << wanted << '\n';
    ++failures;
  }
}

} // namespace

int main() {
  namespace functions = torch_ops::functions;
  namespace ops = torch_ops::ops;
  const at::Tensor x = at::arange(6, at::kDouble).reshape({2, 3});
  const at::Tensor y = at::ones({2, 3}, at::kDouble);

  check("muladd", ops::muladd::call(x, y, 2.0), x + 2);
  check("scale", ops::scale::call(x, 3.0), x * 3);
  at::Tensor written = x.clone();
  check("scale_", ops::scale_::call(written, 3.0), x * 3);
  at::Tensor out = at::empty_like(x);
  check("scale.out", ops::scale_out::call(x, 3.0, out), out);
  check("out", out, x * 3);
  const auto [min, max] = ops::minmax::call(x);
  check("minmax, min", min, x.min());
  check("minmax, max", max, x.max());
  check("weighted_sum", ops::weighted_sum::call({x, y}, {}, 2.0), 2 * x + 2);
  check(
      "squares",
      ops::squares::call(3, at::kInt, {}),
      at::arange(3).pow(2).to(at::kInt));
  check(
      "rms_norm",
      ops::rms_norm::call(x, y[0], 0.0),
      x / x.pow(2).mean(-1, true).sqrt());
  check("smooth_relu", ops::smooth_relu::call(x), (x + (x * x + 1).sqrt()) / 2);
  check("diagonal_view", ops::diagonal_view::call(x), x.diagonal());
  const auto [loss, is_inside] = ops::hinge::call(x, y, 3.0);
  check("hinge, loss", loss, (3 - x).clamp_min(0));
  check("hinge, is_inside", is_inside, x < 3);
  check("drift", ops::drift::call(x, y, 2.0), ((x - 1) / 2).pow(2));
  check("column_sums", ops::column_sums::call(x), x.sum(0));

  // Free functions have the defaults of the schema.
  check("functions::squares", functions::squares(3), at::arange(3).pow(2));
  check("functions::weighted_sum", functions::weighted_sum({x, y}), x + y);
  check("functions::drift", functions::drift(x, y), (x - 1).pow(2));

  // Below the keys of autograd, as a kernel there would call it.
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::CPU);
  check("redispatch", ops::muladd::redispatch(keys, x, y, 2.0), x + 2);

  if (std::string(ops::scale_out::overload_name) != "out") {
    ++failures;
  }
  std::cout << failures << " failures\n";
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
