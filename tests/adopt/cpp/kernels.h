// What the kernels of this library look like, with arguments in the ways that libraries take them; nothing is
// registered here.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#define ADOPT_EXPORT __attribute__((visibility("default")))

namespace adopt {

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s);
at::Tensor muladd_meta(const at::Tensor& a, const at::Tensor& b, double s);
at::Tensor scale_out(at::Tensor x, double s, at::Tensor out);
void fill_cpu(at::Tensor x, at::Scalar value);
std::tuple<at::Tensor, int64_t> count(
    const at::Tensor& x,
    std::optional<int64_t> dim);
at::Tensor norm(at::Tensor x, const std::string& kind);
at::Tensor total(const std::vector<at::Tensor>& xs);
std::vector<at::Tensor> halves(const at::Tensor& x);
at::Tensor sum_all(at::Tensor& x);
at::Tensor pack_2bit(const at::Tensor& x, int64_t size);
at::Tensor pack_4bit(const at::Tensor& x, int64_t size);
at::Tensor maybe_add(at::Tensor x, std::optional<at::Tensor> y);
at::Tensor cast(const at::Tensor& x, at::ScalarType dtype);
bool is_even(int64_t n);
at::Tensor under_condition(const at::Tensor& x);

struct Selection {
  static at::Tensor pick(at::Tensor x, std::vector<int64_t> indices);
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
