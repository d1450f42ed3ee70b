// What the kernels of this library look like; nothing is registered here.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <tuple>
#include <vector>

#define ADOPT_EXPORT __attribute__((visibility("default")))

namespace adopt {

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s);
at::Tensor muladd_meta(const at::Tensor& a, const at::Tensor& b, double s);
at::Tensor& scale_out(const at::Tensor& x, double s, at::Tensor& out);
void fill_cpu(at::Tensor& x, const at::Scalar& value);
std::tuple<at::Tensor, int64_t> count(
    const at::Tensor& x,
    std::optional<int64_t> dim);
at::Tensor norm(const at::Tensor& x, c10::string_view kind);
at::Tensor total(at::TensorList xs);
std::vector<at::Tensor> halves(const at::Tensor& x);
at::Tensor sum_all(const at::Tensor& x);
at::Tensor pack_2bit(const at::Tensor& x, int64_t size);
at::Tensor pack_4bit(const at::Tensor& x, int64_t size);
at::Tensor maybe_add(const at::Tensor& x, const std::optional<at::Tensor>& y);
at::Tensor cast(const at::Tensor& x, at::ScalarType dtype);
bool is_even(int64_t n);
at::Tensor under_condition(const at::Tensor& x);

struct Selection {
  static at::Tensor pick(const at::Tensor& x, at::IntArrayRef indices);
};

namespace detail {
ADOPT_EXPORT at::Tensor inferred(
    const at::Tensor& x,
    int64_t k,
    bool flag,
    c10::string_view name);
} // namespace detail

namespace ops_of_mine {
at::Tensor twice(const at::Tensor& x);
} // namespace ops_of_mine

} // namespace adopt

at::Tensor adopt_thrice(const at::Tensor& x);

namespace adopt {
// A kernel in no namespace of ours is named by one.
using ::adopt_thrice;
} // namespace adopt
