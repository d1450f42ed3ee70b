// A device whose memory is that of the CPU.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided_native.h>
#include <cstdlib>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <device_ops/kernels.h>
#include <device_ops/structured.h>

namespace device_ops {
namespace {

struct DeviceAllocator final : public c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = std::malloc(bytes);
    return {
        data,
        data,
        &std::free,
        c10::Device(c10::DeviceType::PrivateUse1, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &std::free;
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

DeviceAllocator allocator;
constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor on_cpu(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) {
    return tensor;
  }
  return at::from_blob(
      tensor.data_ptr(),
      tensor.sizes(),
      tensor.strides(),
      tensor.options().device(at::kCPU));
}

} // namespace

C10_REGISTER_GUARD_IMPL(
    PrivateUse1,
    c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>);

at::Tensor empty_device(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(
      size,
      &allocator,
      keys,
      c10::dtype_or_default(dtype),
      format);
}
at::Tensor empty_strided_device(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return at::detail::empty_strided_generic(
      size,
      stride,
      &allocator,
      keys,
      c10::dtype_or_default(dtype));
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

} // namespace device_ops
