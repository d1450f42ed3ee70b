#include <ATen/ATen.h>

#include <string>

namespace so {

// The name of the kernel that ran last.
static std::string ran;

static at::Tensor scaled(const at::Tensor& x, double s, const char* name) {
  ran = name;
  return x * s;
}

at::Tensor scale_small(const at::Tensor& x, double s) {
  return scaled(x, s, "small");
}

at::Tensor scale_double(const at::Tensor& x, double s) {
  return scaled(x, s, "double");
}

at::Tensor scale_any(const at::Tensor& x, double s) {
  return scaled(x, s, "any");
}

at::Tensor scale_meta(const at::Tensor& x, double) {
  return at::empty_like(x);
}

at::Tensor twice_large_symint(const at::Tensor& x, c10::SymInt) {
  return x + x;
}

at::Tensor twice_long_symint(const at::Tensor& x, c10::SymInt) {
  return x * 2 + 1;
}

at::Tensor twice_small_symint(const at::Tensor& x, c10::SymInt) {
  return x * 2;
}

int64_t partial_two(
    const at::Tensor&,
    const std::optional<at::Tensor>&,
    at::TensorList,
    at::IntArrayRef,
    std::optional<at::ScalarType>,
    c10::string_view) {
  return 2;
}

int64_t partial_slow(
    const at::Tensor&,
    const std::optional<at::Tensor>&,
    at::TensorList,
    at::IntArrayRef,
    std::optional<at::ScalarType>,
    c10::string_view) {
  return 1;
}

at::Tensor& scale_small_(at::Tensor& self, double s) {
  ran = "small_";
  return self.mul_(s);
}

at::Tensor& scale_any_(at::Tensor& self, double s) {
  ran = "any_";
  return self.mul_(s);
}

at::Tensor& add_out_near(
    const at::Tensor& self,
    const at::Tensor& other,
    int64_t,
    at::Tensor& out) {
  return at::add_out(out, self, other);
}

at::Tensor& add_out_far(
    const at::Tensor& self,
    const at::Tensor& other,
    int64_t,
    at::Tensor& out) {
  return at::add_out(out, self, other);
}

at::Tensor& sub_out_small(
    const at::Tensor&,
    const at::Tensor&,
    const at::Scalar&,
    at::Tensor& out) {
  return out;
}

at::Tensor& sub_out_scaled(
    const at::Tensor&,
    const at::Tensor&,
    const at::Scalar&,
    at::Tensor& out) {
  return out;
}

} // namespace so

#include <so/verify_kernels.h>

#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(so, m) {
  m.def("ran() -> str", [] { return so::ran; });
}
