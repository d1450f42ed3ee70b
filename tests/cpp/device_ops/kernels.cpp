// A backend with two devices, whose memory is that of the CPU.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <device_ops/structured.h>

#include <cstdlib>

namespace device_ops {
namespace {

constexpr auto device_type = c10::DeviceType::PrivateUse1;
thread_local c10::DeviceIndex current_index = 0;

struct Guard final : public c10::impl::NoOpDeviceGuardImpl<device_type> {
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before(device_type, current_index);
    current_index = device.index();
    return before;
  }
  c10::Device getDevice() const override {
    return {device_type, current_index};
  }
  void setDevice(c10::Device device) const override {
    current_index = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current_index = device.index();
  }
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return stream;
  }
  void record(
      void**,
      const c10::Stream&,
      const c10::DeviceIndex,
      const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  c10::DeviceIndex deviceCount() const noexcept override {
    return 2;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : public at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return true;
  }
};

Hooks hooks;
const bool is_registered = [] {
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

struct DeviceAllocator final : public c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = std::malloc(bytes);
    return {data, data, &std::free, c10::Device(device_type, current_index)};
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

const at::Tensor& resize_device_(
    const at::Tensor& self,
    at::IntArrayRef size,
    std::optional<at::MemoryFormat>) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  const size_t bytes = self.numel() * self.itemsize();
  if (storage->nbytes() < bytes) {
    storage->set_data_ptr_noswap(allocator.allocate(bytes));
    storage->set_nbytes(bytes);
  }
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
  return current_index;
}

int64_t current_unguarded(const at::Tensor&) {
  return current_index;
}

int64_t current_unchecked(const at::Tensor&, const at::Tensor&) {
  return current_index;
}

int64_t current_list(at::TensorList) {
  return current_index;
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
  at::Tensor made = at::detail::empty_generic(
      {n},
      &allocator,
      keys,
      c10::dtype_or_default(dtype),
      std::nullopt);
  on_cpu(made).fill_(2);
  return made;
}

} // namespace device_ops

#include <device_ops/verify_kernels.h>
