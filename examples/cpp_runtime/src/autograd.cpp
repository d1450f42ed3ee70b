// Kernels for Autograd: each runs the operator below its key, and says how the
// gradient of the result passes on.
#include <toy/functions.h>
#include <torchgen_lite/local_state.h>

namespace toy {

using torchgen_lite::after_autograd_keyset;
using torchgen_lite::DispatchKeySet;

void Tensor::backward(const Tensor& grad) const {
  if (!requires_grad()) {
    return;
  }
  if (impl_->backward) {
    impl_->backward(grad);
  } else if (impl_->grad == nullptr) {
    impl_->grad = std::make_unique<Tensor>(grad);
  } else {
    *impl_->grad = impl_->grad->add(grad);
  }
}

Tensor add_autograd(
    DispatchKeySet keys,
    const Tensor& self,
    const Tensor& other,
    double alpha) {
  Tensor out = ops::add_Tensor::redispatch(
      keys & after_autograd_keyset,
      self,
      other,
      alpha);
  out.set_backward([=](const Tensor& grad) {
    self.backward(grad);
    const Tensor zero = functions::full(grad.shape());
    other.backward(zero.add(grad, alpha));
  });
  return out;
}

Tensor mul_autograd(
    DispatchKeySet keys,
    const Tensor& self,
    const Tensor& other) {
  Tensor out =
      ops::mul_Tensor::redispatch(keys & after_autograd_keyset, self, other);
  out.set_backward([=](const Tensor& grad) {
    // No gradients of gradients here.
    const torchgen_lite::AutoDispatchBelowAutograd guard;
    self.backward(grad.mul(other));
    other.backward(grad.mul(self));
  });
  return out;
}

Tensor relu_autograd(DispatchKeySet keys, const Tensor& self) {
  Tensor out = ops::relu::redispatch(keys & after_autograd_keyset, self);
  // Not the result itself: it would own a function that owns it.
  const Tensor mask(out.shape(), out.device());
  for (std::size_t i = 0; out.device() == Device::CPU && i < out.numel(); ++i) {
    mask.data()[i] = out.data()[i] > 0 ? 1.0F : 0.0F;
  }
  out.set_backward([=](const Tensor& grad) { self.backward(grad.mul(mask)); });
  return out;
}

Tensor sum_autograd(DispatchKeySet keys, const Tensor& self) {
  Tensor out = ops::sum::redispatch(keys & after_autograd_keyset, self);
  out.set_backward([=](const Tensor& grad) {
    self.backward(functions::full(self.shape(), *grad.data(), self.device()));
  });
  return out;
}

} // namespace toy

#include <toy/verify_kernels.h>
