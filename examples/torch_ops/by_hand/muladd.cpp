// `muladd` without torchgen-lite: what the entry in ops.yaml replaces in C++.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

// The kernel, in ../csrc/pointwise.cpp.
namespace torch_ops {
at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double s);
} // namespace torch_ops

namespace by_hand {

at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double s) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("by_hand::muladd", "")
          .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
  return op.call(a, b, s);
}

namespace {

class Muladd : public torch::autograd::Function<Muladd> {
 public:
  static at::Tensor forward(
      torch::autograd::AutogradContext* context,
      const at::Tensor& a,
      const at::Tensor& b,
      double s) {
    context->save_for_backward({a, b});
    at::AutoDispatchBelowADInplaceOrView guard;
    return muladd(a, b, s);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context,
      torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& a = saved[0];
    const at::Tensor& b = saved[1];
    at::Tensor grad_a;
    if (context->needs_input_grad(0)) {
      grad_a = grads[0] * b;
    }
    at::Tensor grad_b;
    if (context->needs_input_grad(1)) {
      grad_b = grads[0] * a;
    }
    return {grad_a, grad_b, at::Tensor()};
  }
};

at::Tensor muladd_autograd(const at::Tensor& a, const at::Tensor& b, double s) {
  return Muladd::apply(a, b, s);
}

} // namespace

TORCH_LIBRARY(by_hand, m) {
  m.def(
      "muladd(Tensor a, Tensor b, float s) -> Tensor",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("muladd", TORCH_FN(torch_ops::muladd_cpu));
}

TORCH_LIBRARY_IMPL(by_hand, Autograd, m) {
  m.impl("muladd", TORCH_FN(muladd_autograd));
}

} // namespace by_hand
