// A backend with two devices, whose memory is that of the CPU.
#include <ATen/native/DispatchStub.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/as_strided_native.h>
#include <device_ops/structured.h>
#include <plain_device.h>

namespace device_ops {

using plain_device::on_cpu;

at::Tensor empty_device(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return plain_device::make(size, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided_device(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return plain_device::make_strided(size, stride, c10::dtype_or_default(dtype));
}

const at::Tensor& resize_device_(
    const at::Tensor& self,
    at::IntArrayRef size,
    std::optional<at::MemoryFormat>) {
  plain_device::resize(self, size);
  return self;
}

at::Tensor copy_from_device(
    const at::Tensor& self,
    const at::Tensor& dst,
    bool) {
  on_cpu(dst).copy_(on_cpu(self));
  return dst;
}

TORCH_IMPL_FUNC(neg_out_device)(const at::Tensor& self, const at::Tensor& out) {
  auto to = on_cpu(out);
  at::neg_out(to, on_cpu(self));
}

void exp_loop(at::TensorIteratorBase& iter) {
  auto to = on_cpu(iter.output());
  at::exp_out(to, on_cpu(iter.input()));
}

void abs_loop(at::TensorIteratorBase& iter) {
  auto to = on_cpu(iter.output());
  at::abs_out(to, on_cpu(iter.input()));
}

at::Tensor& add_out_device(
    const at::Tensor& self,
    const at::Tensor& other,
    const at::Scalar& alpha,
    at::Tensor& out) {
  auto to = on_cpu(out);
  at::add_out(to, on_cpu(self), on_cpu(other), alpha);
  return out;
}

at::Tensor& roll_out_device(
    const at::Tensor& self,
    at::IntArrayRef shifts,
    at::IntArrayRef dims,
    at::Tensor& out) {
  on_cpu(out).copy_(on_cpu(self).roll(shifts, dims));
  return out;
}

std::tuple<at::Tensor&, at::Tensor&> frexp_out_device(
    const at::Tensor& self,
    at::Tensor& mantissa,
    at::Tensor& exponent) {
  auto first = on_cpu(mantissa), second = on_cpu(exponent);
  at::frexp_out(first, second, on_cpu(self));
  return {mantissa, exponent};
}

TORCH_META_FUNC(doubled)(const at::Tensor& self) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

TORCH_IMPL_FUNC(
    doubled_out_device)(const at::Tensor& self, const at::Tensor& out) {
  on_cpu(out).copy_(on_cpu(self) * 2);
}

int64_t current(const at::Tensor&, const std::optional<at::Tensor>&) {
  return plain_device::current_index;
}

int64_t current_unguarded(const at::Tensor&) {
  return plain_device::current_index;
}

int64_t current_unchecked(const at::Tensor&, const at::Tensor&) {
  return plain_device::current_index;
}

int64_t current_list(at::TensorList) {
  return plain_device::current_index;
}

at::Tensor thrice(const at::Tensor& self) {
  const at::Tensor result = at::empty_like(self);
  on_cpu(result).copy_(on_cpu(self) * 3);
  return result;
}

at::Tensor made_cpu(
    int64_t n,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return at::full({n}, 1, at::TensorOptions().dtype(dtype));
}

at::Tensor made_device(
    int64_t n,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  at::Tensor made = plain_device::make({n}, c10::dtype_or_default(dtype));
  on_cpu(made).fill_(2);
  return made;
}

} // namespace device_ops

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(exp_stub, &device_ops::exp_loop)
REGISTER_PRIVATEUSE1_DISPATCH(abs_stub, &device_ops::abs_loop)
} // namespace at::native

#include <device_ops/verify_kernels.h>
