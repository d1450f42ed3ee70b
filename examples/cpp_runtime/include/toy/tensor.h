// A tensor: a handle to numbers, a shape, a device, and what backward needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <toy/methods.h>
#include <torchgen_lite/keyset_of.h>

namespace toy {

enum class Device { CPU, Meta };

// The generated methods (x.add(y)) come with the base class.
class Tensor : public TensorMethods<Tensor> {
 public:
  using Backward = std::function<void(const Tensor& grad)>;

  Tensor(std::vector<int64_t> shape, Device device)
      : impl_(std::make_shared<Impl>()) {
    impl_->shape = std::move(shape);
    impl_->device = device;
    if (device == Device::CPU) {
      impl_->data.resize(numel());
    }
  }

  const std::vector<int64_t>& shape() const {
    return impl_->shape;
  }
  std::size_t numel() const {
    std::size_t count = 1;
    for (const int64_t size : impl_->shape) {
      count *= static_cast<std::size_t>(size);
    }
    return count;
  }
  Device device() const {
    return impl_->device;
  }
  // As with a pointer, const does not reach what the handle refers to.
  float* data() const {
    return impl_->data.data();
  }

  bool requires_grad() const {
    return impl_->requires_grad;
  }
  Tensor& set_requires_grad() {
    impl_->requires_grad = true;
    return *this;
  }
  // What a gradient of this tensor is passed on to.
  void set_backward(Backward backward) const {
    impl_->requires_grad = true;
    impl_->backward = std::move(backward);
  }
  // Passes a gradient on, or adds it up where there is nobody to pass it to.
  void backward(const Tensor& grad) const;
  const Tensor& grad() const {
    return *impl_->grad;
  }

 private:
  struct Impl {
    std::vector<float> data;
    std::vector<int64_t> shape;
    Device device = Device::CPU;
    bool requires_grad = false;
    Backward backward;
    std::unique_ptr<Tensor> grad;
  };

  std::shared_ptr<Impl> impl_;
};

} // namespace toy

// What the dispatcher asks of a tensor.
template <>
struct torchgen_lite::KeysetOf<toy::Tensor> {
  static DispatchKeySet get(const toy::Tensor& tensor) noexcept {
    const bool is_cpu = tensor.device() == toy::Device::CPU;
    const DispatchKeySet keys(is_cpu ? DispatchKey::CPU : DispatchKey::Meta);
    return tensor.requires_grad()
        ? keys.add(
              is_cpu ? DispatchKey::AutogradCPU : DispatchKey::AutogradMeta)
        : keys;
  }
};

#include <toy/operators.h>
