#include <ATen/ATen.h>
#include <st_ops/functions.h>
#include <st_ops/methods.h>
#include <st_ops/redispatch_functions.h>
#include <st_ops/structured.h>

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

TORCH_META_FUNC(columns)(const at::Tensor& self) {
  set_output_strided(0, self.sizes(), {1, self.size(0)}, self.options());
}

TORCH_IMPL_FUNC(
    columns_out_cpu)(const at::Tensor& self, const at::Tensor& out) {
  // What the kernel asked for is what it gets, whatever the caller gave.
  TORCH_CHECK(out.stride(0) == 1);
  out.copy_(self);
}

at::Tensor flip_meta(const at::Tensor& self, int64_t dim) {
  TORCH_CHECK(dim < self.dim(), "flip_meta: no dimension ", dim);
  return at::empty_like(self);
}

TORCH_META_FUNC(flip)(const at::Tensor& self, int64_t dim) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

at::Tensor norm(const at::Tensor& self, double p) {
  return self.norm(p);
}

struct Wrapped : TensorMethods<Wrapped> {
  explicit Wrapped(at::Tensor tensor) : tensor(std::move(tensor)) {}

  operator const at::Tensor&() const {
    return tensor;
  }

  at::Tensor tensor;
};

std::vector<at::Tensor> called(const at::Tensor& self) {
  const c10::DispatchKeySet keys(c10::DispatchKey::CPU);
  const Wrapped copy(self.clone());
  copy.scale_(10);
  at::Tensor out = at::empty({0}, self.options());
  functions::scale_out(out, self, 4);
  at::Tensor outf = at::empty({0}, self.options());
  functions::scale_outf(self, 5, outf);
  return {
      functions::scale(self, 2),
      redispatch::scale(keys, self, 3),
      out,
      outf,
      copy.tensor,
      copy.norm(),
      copy.norm(1),
      ops::norm::call(self, 1)};
}

} // namespace st_ops

namespace kernels {

TORCH_IMPL_FUNC(flip_out)
(const at::Tensor& self, int64_t dim, const at::Tensor& out) {
  out.copy_(self.flip(dim));
}

} // namespace kernels

#include <st_ops/verify_kernels.h>
