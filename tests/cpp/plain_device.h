// A device with two numbers, "plain" in Python, whose memory is that of the CPU. One file of a library includes this.
#pragma once

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdlib>

namespace plain_device {
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

inline at::Tensor on_cpu(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) {
    return tensor;
  }
  return at::from_blob(
      tensor.data_ptr(),
      tensor.sizes(),
      tensor.strides(),
      tensor.options().device(at::kCPU));
}

inline at::Tensor make(
    at::IntArrayRef size,
    at::ScalarType dtype,
    std::optional<at::MemoryFormat> format = std::nullopt) {
  return at::detail::empty_generic(size, &allocator, keys, dtype, format);
}

inline at::Tensor make_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    at::ScalarType dtype) {
  return at::detail::empty_strided_generic(
      size,
      stride,
      &allocator,
      keys,
      dtype);
}

inline void resize(const at::Tensor& self, at::IntArrayRef size) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  const size_t bytes = self.numel() * self.itemsize();
  if (storage->nbytes() < bytes) {
    storage->set_data_ptr_noswap(allocator.allocate(bytes));
    storage->set_nbytes(bytes);
  }
}

} // namespace
} // namespace plain_device
