// Reductions, lists and optionals, an operator without tensors, and two that are made of others.

#include <algorithm>
#include <optional>
#include <tuple>

#include <ATen/Dispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/diagonal.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

namespace torch_ops {

namespace {

void check_weighted_sum(
    at::TensorList xs,
    const std::optional<at::Tensor>& weight) {
  TORCH_CHECK(!xs.empty(), "weighted_sum: xs is empty");
  for (const at::Tensor& x : xs) {
    TORCH_CHECK(
        x.sym_sizes() == xs[0].sym_sizes() &&
            x.scalar_type() == xs[0].scalar_type(),
        "weighted_sum: the tensors differ in shape or dtype");
  }
  TORCH_CHECK(
      !weight || (weight->dim() == 1 && weight->sym_size(0) == xs.size()),
      "weighted_sum: weight needs one element for each tensor");
}

template <int64_t dim>
at::Tensor sums(const at::Tensor& matrix) {
  TORCH_CHECK(matrix.dim() == 2, "column_sums takes a matrix");
  return at::sum(matrix, dim);
}

} // namespace

std::tuple<at::Tensor, at::Tensor> minmax_cpu(const at::Tensor& self) {
  TORCH_CHECK(self.numel() > 0, "minmax: the tensor has no elements");
  const at::Tensor input = self.contiguous();
  at::Tensor min = self.new_empty({});
  at::Tensor max = self.new_empty({});
  AT_DISPATCH_ALL_TYPES(self.scalar_type(), "minmax", [&] {
    const scalar_t* x = input.const_data_ptr<scalar_t>();
    const auto [low, high] = std::minmax_element(x, x + input.numel());
    *min.mutable_data_ptr<scalar_t>() = *low;
    *max.mutable_data_ptr<scalar_t>() = *high;
  });
  return {min, max};
}

at::Tensor weighted_sum_cpu(
    at::TensorList xs,
    const std::optional<at::Tensor>& weight,
    std::optional<double> scale) {
  check_weighted_sum(xs, weight);
  at::Tensor out = at::zeros_like(xs[0], at::MemoryFormat::Contiguous);
  const at::Tensor weights =
      weight ? weight->to(at::kDouble).contiguous() : at::Tensor();
  for (size_t i = 0; i < xs.size(); ++i) {
    const at::Tensor input = xs[i].contiguous();
    const double factor = scale.value_or(1.0) *
        (weight ? weights.const_data_ptr<double>()[i] : 1.0);
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "weighted_sum", [&] {
      const scalar_t* x = input.const_data_ptr<scalar_t>();
      scalar_t* sum = out.mutable_data_ptr<scalar_t>();
      for (int64_t j = 0; j < out.numel(); ++j) {
        sum[j] += static_cast<scalar_t>(factor) * x[j];
      }
    });
  }
  return out;
}

at::Tensor squares(
    int64_t n,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Device> device) {
  const auto options =
      at::TensorOptions().dtype(dtype.value_or(at::kLong)).device(device);
  const at::Tensor numbers = at::arange(n, options);
  return at::mul(numbers, numbers);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor mean = at::mean(at::mul(x, x), -1, /*keepdim=*/true);
  return at::mul(at::mul(x, at::rsqrt(at::add(mean, eps))), weight);
}

at::Tensor diagonal_view(const at::Tensor& self) {
  return at::diagonal(self);
}

// An instance of a template has a name by way of a function.
#if !defined(TORCH_OPS_SMALL) && !defined(__CUDACC__)
at::Tensor column_sums_cpu(const at::Tensor& self) {
  return sums<0>(self);
}
#endif

} // namespace torch_ops

#include <torch_ops/verify/column_sums.h>
#include <torch_ops/verify/diagonal_view.h>
#include <torch_ops/verify/minmax.h>
#include <torch_ops/verify/rms_norm.h>
#include <torch_ops/verify/squares.h>
#include <torch_ops/verify/weighted_sum.h>
