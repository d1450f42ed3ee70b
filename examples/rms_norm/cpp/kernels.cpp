// The kernels: each thread has rows of its own.

#include <algorithm>
#include <cmath>
#include <tuple>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

namespace rms_norm {

namespace {

// How many rows are worth a thread of their own.
int64_t rows_at_least(int64_t columns) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, columns));
}

// Sums of rows have this dtype: float for half and bfloat16.
at::TensorOptions wide(const at::Tensor& tensor) {
  return tensor.options().dtype(at::toOpMathType(tensor.scalar_type()));
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> add_rms_norm(
    const at::Tensor& x,
    const at::Tensor& residual,
    const at::Tensor& weight,
    double eps) {
  TORCH_CHECK(
      x.sizes() == residual.sizes(),
      "x and residual have the same shape");
  TORCH_CHECK(
      weight.dim() == 1 && x.dim() > 0 && x.size(-1) == weight.size(0),
      "weight has an element for each column of x");
  TORCH_CHECK(
      x.dtype() == residual.dtype() && x.dtype() == weight.dtype(),
      "all tensors have the same dtype");
  const auto x_ = x.contiguous(), residual_ = residual.contiguous(),
             weight_ = weight.contiguous();
  const auto out = at::empty_like(x_), sum = at::empty_like(x_);
  const auto rstd = at::empty(x.sizes().slice(0, x.dim() - 1), wide(x));
  const int64_t columns = weight.size(0);

  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf,
      at::kBFloat16,
      x.scalar_type(),
      "add_rms_norm",
      [&] {
        using wide_t = at::opmath_type<scalar_t>;
        const auto* x_data = x_.const_data_ptr<scalar_t>();
        const auto* residual_data = residual_.const_data_ptr<scalar_t>();
        const auto* weight_data = weight_.const_data_ptr<scalar_t>();
        auto* out_data = out.mutable_data_ptr<scalar_t>();
        auto* sum_data = sum.mutable_data_ptr<scalar_t>();
        auto* rstd_data = rstd.mutable_data_ptr<wide_t>();
        at::parallel_for(
            0,
            rstd.numel(),
            rows_at_least(columns),
            [&](int64_t begin, int64_t end) {
              for (int64_t row = begin; row < end; ++row) {
                const int64_t first = row * columns;
                wide_t squares = 0;
                for (int64_t i = 0; i < columns; ++i) {
                  const scalar_t added =
                      x_data[first + i] + residual_data[first + i];
                  sum_data[first + i] = added;
                  squares +=
                      static_cast<wide_t>(added) * static_cast<wide_t>(added);
                }
                const auto scale =
                    1 / std::sqrt(squares / columns + static_cast<wide_t>(eps));
                rstd_data[row] = scale;
                for (int64_t i = 0; i < columns; ++i) {
                  out_data[first + i] =
                      static_cast<wide_t>(sum_data[first + i]) * scale *
                      static_cast<wide_t>(weight_data[i]);
                }
              }
            });
      });
  return {out, sum, rstd};
}

std::tuple<at::Tensor, at::Tensor> add_rms_norm_backward(
    const at::Tensor& grad_out,
    const at::Tensor& grad_sum,
    const at::Tensor& sum,
    const at::Tensor& weight,
    const at::Tensor& rstd) {
  TORCH_CHECK(
      grad_out.sizes() == sum.sizes() && grad_sum.sizes() == sum.sizes(),
      "gradients have the shape of what they are of");
  const auto grad_out_ = grad_out.contiguous(),
             grad_sum_ = grad_sum.contiguous();
  const auto sum_ = sum.contiguous(), weight_ = weight.contiguous(),
             rstd_ = rstd.contiguous();
  const auto grad_x = at::empty_like(sum_);
  const int64_t columns = weight.size(0);
  // Each thread adds up the gradient of the weight for its rows.
  const auto terms = at::zeros({at::get_num_threads(), columns}, wide(weight));

  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf,
      at::kBFloat16,
      sum.scalar_type(),
      "add_rms_norm_backward",
      [&] {
        using wide_t = at::opmath_type<scalar_t>;
        const auto* grad_out_data = grad_out_.const_data_ptr<scalar_t>();
        const auto* grad_sum_data = grad_sum_.const_data_ptr<scalar_t>();
        const auto* sum_data = sum_.const_data_ptr<scalar_t>();
        const auto* weight_data = weight_.const_data_ptr<scalar_t>();
        const auto* rstd_data = rstd_.const_data_ptr<wide_t>();
        auto* grad_x_data = grad_x.mutable_data_ptr<scalar_t>();
        auto* terms_data = terms.mutable_data_ptr<wide_t>();
        at::parallel_for(
            0,
            rstd.numel(),
            rows_at_least(columns),
            [&](int64_t begin, int64_t end) {
              auto* own_terms = terms_data + at::get_thread_num() * columns;
              for (int64_t row = begin; row < end; ++row) {
                const auto* grads = grad_out_data + row * columns;
                const auto* sums = sum_data + row * columns;
                const wide_t scale = rstd_data[row];
                wide_t dot = 0;
                for (int64_t i = 0; i < columns; ++i) {
                  const wide_t grad = grads[i], normed = sums[i] * scale;
                  own_terms[i] += grad * normed;
                  dot += grad * static_cast<wide_t>(weight_data[i]) * normed;
                }
                const auto mean = dot / columns;
                for (int64_t i = 0; i < columns; ++i) {
                  const wide_t scaled = static_cast<wide_t>(grads[i]) *
                      static_cast<wide_t>(weight_data[i]);
                  const wide_t normed = sums[i] * scale;
                  grad_x_data[row * columns + i] =
                      (scaled - normed * mean) * scale +
                      static_cast<wide_t>(grad_sum_data[row * columns + i]);
                }
              }
            });
      });
  return {grad_x, terms.sum(0).to(weight.scalar_type())};
}

} // namespace rms_norm

#include <rms_norm/verify_kernels.h>
