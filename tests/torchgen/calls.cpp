// Generated typed calls run PyTorch's kernels: each line gives what at:: gives.
//
// `aten_ops` is generated for every operator of PyTorch, one shard of it is
// compiled here. `few` is generated for a few operators, with their methods.
// Prints the lines that failed, and how many there were.
#include <aten_ops/functions_9.h>
#include <aten_ops/redispatch_functions_9.h>
#include <few/functions.h>
#include <few/methods.h>

#include <ATen/ATen.h>
#include <torch/library.h>

#include <cstdio>

namespace {

namespace ops = aten_ops::ops;
namespace functions = aten_ops::functions;
namespace redispatch = aten_ops::redispatch;

int checks = 0;
int failures = 0;

void check(bool right, int line) {
  ++checks;
  if (!right) {
    ++failures;
    std::printf("line %d\n", line);
  }
}
#define SAME(OURS, THEIRS) check(at::equal(OURS, THEIRS), __LINE__)
#define HOLDS(CONDITION) check(CONDITION, __LINE__)

struct Wrapped : few::TensorMethods<Wrapped> {
  explicit Wrapped(at::Tensor held) : tensor(held) {}
  operator const at::Tensor&() const {
    return tensor;
  }
  at::Tensor tensor;
};

void typed(const at::Tensor& x, const at::Tensor& y) {
  SAME(ops::div_Tensor::call(x, y), at::div(x, y));
  SAME(ops::div_Tensor_mode::call(x, y, "floor"), at::div(x, y, "floor"));
  SAME(ops::cumsum::call(x, 1, at::kDouble), at::cumsum(x, 1, at::kDouble));
  SAME(ops::einsum::call("ij,ij->i", {x, y}, {}), (x * y).sum(1));
  HOLDS(!ops::is_complex::call(x));
  auto [values, indices] = ops::max_dim::call(x, 1, false);
  auto [values_, indices_] = at::max(x, 1);
  SAME(values, values_);
  SAME(indices, indices_);
  at::Tensor out = at::empty_like(x);
  at::Tensor& given = ops::div_out::call(x, y, out);
  HOLDS(&given == &out);
  SAME(out, x / y);
  at::Tensor self = x.clone();
  HOLDS(&ops::silu_::call(self) == &self);
  SAME(self, at::silu(x));
  HOLDS(ops::split_with_sizes::call(x, {1, 2}, 1)[1].is_alias_of(x));
  HOLDS(
      ops::new_empty::call(x, {2, 5}, at::kInt, {}, {}, {}).sizes() ==
      at::IntArrayRef({2, 5}));
}

void free_functions(const at::Tensor& x, const at::Tensor& y) {
  SAME(functions::div(x, 4), x / 4);
  SAME(functions::max(x), x.max());
  SAME(functions::max(x, y), at::max(x, y));
  SAME(std::get<1>(functions::max(x, 0)), std::get<1>(at::max(x, 0)));
  SAME(functions::kl_div(x, y), at::kl_div(x, y));
  SAME(functions::subtract(x, y), x - y);
  SAME(functions::nanmean(x), x.mean());
  SAME(functions::scalar_tensor(3), at::scalar_tensor(3));
  HOLDS(functions::scalar_tensor(3, at::kLong).dtype() == at::kLong);
  SAME(functions::triu_indices(2, 3), at::triu_indices(2, 3));
  SAME(functions::split_with_sizes(x, {1, 2}, 1)[0], x.narrow(1, 0, 1));
  SAME(functions::split_with_sizes_symint(x, {1, 2}, 1)[0], x.narrow(1, 0, 1));
  const at::Tensor image = at::ones({1, 2, 4, 4});
  const at::Tensor weight = at::ones({3, 2, 3, 3});
  SAME(functions::conv2d(image, weight), at::conv2d(image, weight));
  const at::Tensor same = at::conv2d(image, weight, {}, 1, "same");
  SAME(functions::conv2d(image, weight, {}, 1, "same"), same);
  at::Tensor out = at::empty({0}, at::kDouble);
  functions::frac_out(out, x);
  SAME(out, at::frac(x));
  at::manual_seed(1);
  const at::Tensor random = functions::rand_like(x);
  at::manual_seed(1);
  SAME(random, at::rand_like(x));
}

void below_autograd(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor leaf = x.clone().requires_grad_();
  HOLDS(ops::div_Tensor::call(leaf, y).requires_grad());
  const auto keys = leaf.key_set() & c10::after_ADInplaceOrView_keyset;
  const at::Tensor found = ops::div_Tensor::redispatch(keys, leaf, y);
  HOLDS(!found.requires_grad());
  SAME(found, x / y);
  SAME(redispatch::div(keys, leaf, y), found);
  at::Tensor self = x.clone();
  redispatch::silu_(c10::DispatchKeySet(c10::DispatchKey::CPU), self);
  SAME(self, at::silu(x));
  redispatch::random_(c10::DispatchKeySet(c10::DispatchKey::CPU), self, 3);
  HOLDS(self.max().item<double>() < 3);
}

void methods(const at::Tensor& x, const at::Tensor& y) {
  const Wrapped wrapped(x.clone());
  SAME(wrapped.add(y), x + y);
  SAME(wrapped.add(y, 2), x + 2 * y);
  SAME(wrapped.sum(1), x.sum(1));
  SAME(wrapped.sum(), x.sum());
  SAME(wrapped.narrow(1, 1, 2), x.narrow(1, 1, 2));
  SAME(wrapped.clamp(0.25), x.clamp(0.25));
  HOLDS(wrapped.new_zeros({4}, at::kInt).dtype() == at::kInt);
  HOLDS(&wrapped.mul_(y) == &wrapped.tensor);
  SAME(wrapped.tensor, x * y);
  SAME(few::functions::add(x, y, 3), x + 3 * y);
}

} // namespace

int main() {
  const at::Tensor x = at::arange(1, 7, at::kDouble).view({2, 3}) / 8;
  const at::Tensor y = at::full({2, 3}, 0.5, at::kDouble);
  typed(x, y);
  free_functions(x, y);
  below_autograd(x, y);
  methods(x, y);
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
