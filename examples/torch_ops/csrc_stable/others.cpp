// The same kernels as csrc/others.cpp for the stable ABI.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

// 2.13 brought the one that says what went wrong.
#ifndef STABLE_TORCH_ERROR_CODE_CHECK
#define STABLE_TORCH_ERROR_CODE_CHECK TORCH_ERROR_CODE_CHECK
#endif

namespace torch_ops {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::stable::Tensor;

namespace {

// Calls an operator that has one tensor for its result, through the dispatcher.
template <class... Args>
Tensor call(const char* name, const char* overload, const Args&... args) {
  std::array<StableIValue, sizeof...(Args)> stack{
      torch::stable::detail::from(args)...};
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher(name, overload, stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

void check_weighted_sum(
    HeaderOnlyArrayRef<Tensor> xs,
    const std::optional<Tensor>& weight) {
  STD_TORCH_CHECK(!xs.empty(), "weighted_sum: xs is empty");
  for (const Tensor& x : xs) {
    STD_TORCH_CHECK(
        x.sizes().equals(xs[0].sizes()) &&
            x.scalar_type() == xs[0].scalar_type(),
        "weighted_sum: the tensors differ in shape or dtype");
  }
  STD_TORCH_CHECK(
      !weight ||
          (weight->dim() == 1 &&
           weight->size(0) == static_cast<int64_t>(xs.size())),
      "weighted_sum: weight needs one element for each tensor");
}

template <int64_t dim>
Tensor sums(const Tensor& matrix) {
  STD_TORCH_CHECK(matrix.dim() == 2, "column_sums takes a matrix");
  return torch::stable::sum(matrix, std::vector<int64_t>{dim});
}

} // namespace

std::tuple<Tensor, Tensor> minmax_cpu(const Tensor& self) {
  STD_TORCH_CHECK(self.numel() > 0, "minmax: the tensor has no elements");
  const Tensor input = torch::stable::contiguous(self);
  const Tensor min = torch::stable::new_empty(self, {});
  const Tensor max = torch::stable::new_empty(self, {});
  THO_DISPATCH_V2(
      self.scalar_type(),
      "minmax",
      AT_WRAP([&] {
        const auto* x = static_cast<const scalar_t*>(input.const_data_ptr());
        const auto found = std::minmax_element(x, x + input.numel());
        *static_cast<scalar_t*>(min.mutable_data_ptr()) = *found.first;
        *static_cast<scalar_t*>(max.mutable_data_ptr()) = *found.second;
      }),
      AT_FLOATING_TYPES,
      AT_INTEGRAL_TYPES);
  return {min, max};
}

Tensor weighted_sum_cpu(
    HeaderOnlyArrayRef<Tensor> xs,
    const std::optional<Tensor>& weight,
    std::optional<double> scale) {
  check_weighted_sum(xs, weight);
  const Tensor out = torch::stable::new_zeros(xs[0], xs[0].sizes());
  std::vector<double> factors(xs.size(), scale.value_or(1.0));
  if (weight) {
    const Tensor weights = torch::stable::contiguous(
        torch::stable::to(*weight, torch::headeronly::ScalarType::Double));
    const auto* w = static_cast<const double*>(weights.const_data_ptr());
    for (size_t i = 0; i < xs.size(); ++i) {
      factors[i] *= w[i];
    }
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    const Tensor input = torch::stable::contiguous(xs[i]);
    THO_DISPATCH_V2(
        out.scalar_type(),
        "weighted_sum",
        AT_WRAP([&] {
          const auto* x = static_cast<const scalar_t*>(input.const_data_ptr());
          auto* sum = static_cast<scalar_t*>(out.mutable_data_ptr());
          for (int64_t j = 0; j < out.numel(); ++j) {
            sum[j] += static_cast<scalar_t>(factors[i]) * x[j];
          }
        }),
        AT_FLOATING_TYPES);
  }
  return out;
}

Tensor squares(
    int64_t n,
    std::optional<torch::headeronly::ScalarType> dtype,
    std::optional<torch::stable::Device> device) {
  using torch::headeronly::DeviceType;
  const auto type = dtype.value_or(torch::headeronly::ScalarType::Long);
  if (device && device->type() == DeviceType::Meta) {
    return torch::stable::empty({n}, type, std::nullopt, device);
  }
  const Tensor out = torch::stable::empty({n}, type);
  THO_DISPATCH_V2(
      type,
      "squares",
      AT_WRAP([&] {
        auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
        for (int64_t i = 0; i < n; ++i) {
          to[i] = static_cast<scalar_t>(i * i);
        }
      }),
      AT_FLOATING_TYPES,
      AT_INTEGRAL_TYPES);
  return device ? torch::stable::to(out, *device) : out;
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  const std::vector<int64_t> last{-1};
  const Tensor mean = call(
      "aten::mean",
      "dim",
      call("aten::mul", "Tensor", x, x),
      std::optional<std::vector<int64_t>>(last),
      /*keepdim=*/true,
      std::optional<torch::headeronly::ScalarType>());
  const Tensor epsilon =
      torch::stable::fill_(torch::stable::new_empty(mean, {}), eps);
  const Tensor sum = torch::stable::subtract(mean, epsilon, /*alpha=*/-1.0);
  const Tensor normal =
      call("aten::mul", "Tensor", x, call("aten::rsqrt", "", sum));
  return call("aten::mul", "Tensor", normal, weight);
}

Tensor diagonal_view(const Tensor& self) {
  return call("aten::diagonal", "", self, int64_t{0}, int64_t{0}, int64_t{1});
}

// An instance of a template has a name by way of a function.
#if !defined(TORCH_OPS_SMALL) && !defined(__CUDACC__)
Tensor column_sums_cpu(const Tensor& self) {
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
