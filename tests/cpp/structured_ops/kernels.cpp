#include <ATen/ATen.h>
#include <st_ops/structured.h>
#include <ATen/native/cpu/Loops.h>
namespace st_ops {
TORCH_META_FUNC(scale)(const at::Tensor& self, double s) {
  set_output_contiguous(0, self.sizes(), self.options());
}
TORCH_IMPL_FUNC(
    scale_out_cpu)(const at::Tensor& self, double s, const at::Tensor& out) {
  TORCH_CHECK(out.is_contiguous());
  at::mul_out(
      const_cast<at::Tensor&>(out),
      self,
      at::scalar_tensor(s, self.options()));
}
TORCH_META_FUNC(add)(const at::Tensor& self, const at::Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
TORCH_IMPL_FUNC(add_out_cpu)(
    const at::Tensor& self,
    const at::Tensor& other,
    const at::Tensor& out) {
  AT_DISPATCH_ALL_TYPES(common_dtype(), "add", [&] {
    this->for_each([](char** data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        *(scalar_t*)(data[0] + i * strides[0]) =
            *(scalar_t*)(data[1] + i * strides[1]) +
            *(scalar_t*)(data[2] + i * strides[2]);
      }
    });
  });
  cast_outputs();
}
structured_minmax::meta_return_ty structured_minmax::meta(
    const at::Tensor& self,
    std::optional<int64_t> dim,
    at::OptionalTensorRef weight,
    at::OptionalScalarRef limit) {
  const int64_t d = dim.value_or(0);
  auto sizes = self.sizes().vec();
  sizes.erase(sizes.begin() + d);
  set_output_raw_strided(0, sizes, {}, self.options());
  set_output_raw_strided(1, sizes, {}, self.options());
  return {d, weight.has_value()};
}
TORCH_IMPL_FUNC(minmax_out_cpu)(
    const at::Tensor& self,
    int64_t dim,
    at::OptionalTensorRef weight,
    at::OptionalScalarRef limit,
    bool is_weighted,
    const at::Tensor& low,
    const at::Tensor& high) {
  at::Tensor x = is_weighted ? self * *weight : self;
  if (limit.has_value()) {
    x = x.clamp_max(limit.get());
  }
  low.copy_(x.amin(dim));
  high.copy_(x.amax(dim));
}
} // namespace st_ops
