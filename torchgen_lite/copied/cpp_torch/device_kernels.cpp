#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#define TORCHGEN_LITE_NAMESPACE mylib

// Kernels of operators that PyTorch calls on every device, and has for GPUs alone.
// These call other operators, so they are right for all devices.
namespace TORCHGEN_LITE_NAMESPACE::device {

// conj_physical_(Tensor(a!) self) -> Tensor(a!)
at::Tensor& conj_physical_(at::Tensor& self) {
  return at::conj_physical_out(self, self);
}

// set_(Tensor(a!) self) -> Tensor(a!)
at::Tensor& set_to_nothing(at::Tensor& self) {
  auto* allocator = c10::GetAllocator(self.device().type());
  at::Storage none(at::Storage::use_byte_size_t(), 0, allocator, true);
  return self.set_(std::move(none), 0, {0}, {});
}

// record_stream(Tensor(a!) self, Stream s) -> ()
void record_stream(at::Tensor& self, at::Stream stream) {
  c10::impl::getDeviceGuardImpl(self.device().type())
      ->recordDataPtrOnStream(self.storage().data_ptr(), stream);
}

// native_batch_norm(Tensor input, Tensor? weight, Tensor? bias,
//     Tensor? running_mean, Tensor? running_var, bool training, float momentum,
//     float eps) -> (Tensor, Tensor, Tensor)
//
// It writes the running statistics, which the schema conceals: a fallback would
// write to copies. The operators that this calls say so.
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var,
    bool training,
    double momentum,
    double eps) {
  if (running_mean && running_mean->defined()) {
    at::Tensor mean = *running_mean, var = *running_var;
    return at::_native_batch_norm_legit(
        input,
        weight,
        bias,
        mean,
        var,
        training,
        momentum,
        eps);
  }
  return at::_native_batch_norm_legit(
      input,
      weight,
      bias,
      training,
      momentum,
      eps);
}

// native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)
std::tuple<at::Tensor, at::Tensor> native_dropout(
    const at::Tensor& input,
    double p,
    std::optional<bool> train) {
  at::Tensor mask = at::ones_like(input, input.options().dtype(at::kBool));
  if (!train.value_or(true) || p == 0) {
    return {input.clone(), mask};
  }
  mask.bernoulli_(1 - p);
  return {p == 1 ? input * mask : input * mask / (1 - p), mask};
}

static at::Tensor with_biases(
    const at::Tensor& gates,
    std::initializer_list<std::optional<at::Tensor>> biases) {
  at::Tensor sum = gates;
  for (const auto& bias : biases) {
    sum = bias && bias->defined() ? sum + *bias : sum;
  }
  return sum;
}

// _thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx,
//     Tensor? input_bias=None, Tensor? hidden_bias=None)
//     -> (Tensor, Tensor, Tensor)
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& cx,
    const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const auto sum =
      with_biases(input_gates + hidden_gates, {input_bias, hidden_bias});
  const auto gates = sum.chunk(4, 1);
  const auto in = gates[0].sigmoid(), forget = gates[1].sigmoid();
  const auto cell = gates[2].tanh(), out = gates[3].sigmoid();
  const auto cy = forget * cx + in * cell;
  return {out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1)};
}

// _thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy,
//     Tensor cx, Tensor cy, Tensor workspace, bool has_bias)
//     -> (Tensor, Tensor, Tensor)
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& grad_hy,
    const std::optional<at::Tensor>& grad_cy,
    const at::Tensor& cx,
    const at::Tensor& cy,
    const at::Tensor& workspace,
    bool has_bias) {
  const auto gates = workspace.chunk(4, 1);
  const auto &in = gates[0], &forget = gates[1];
  const auto &cell = gates[2], &out = gates[3];
  const auto tanh = cy.tanh();
  const bool has_hy = grad_hy && grad_hy->defined();
  const auto grad_out = has_hy ? *grad_hy : at::zeros_like(cy);
  auto grad_cell = at::tanh_backward(grad_out * out, tanh);
  if (grad_cy && grad_cy->defined()) {
    grad_cell = grad_cell + *grad_cy;
  }
  const auto grad_gates = at::cat(
      {at::sigmoid_backward(grad_cell * cell, in),
       at::sigmoid_backward(grad_cell * cx, forget),
       at::tanh_backward(grad_cell * in, cell),
       at::sigmoid_backward(grad_out * tanh, out)},
      1);
  const auto grad_bias = has_bias ? grad_gates.sum(0) : at::Tensor();
  return {grad_gates, grad_cell * forget, grad_bias};
}

// _thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx,
//     Tensor? input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor)
std::tuple<at::Tensor, at::Tensor> gru_cell(
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& hx,
    const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const auto from_input = with_biases(input_gates, {input_bias}).chunk(3, 1);
  const auto from_hidden = with_biases(hidden_gates, {hidden_bias}).chunk(3, 1);
  const auto reset = (from_input[0] + from_hidden[0]).sigmoid();
  const auto update = (from_input[1] + from_hidden[1]).sigmoid();
  const auto made = (from_input[2] + reset * from_hidden[2]).tanh();
  const auto workspace = at::cat({reset, update, made, hx, from_hidden[2]}, 1);
  return {made + update * (hx - made), workspace};
}

// _thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias)
//     -> (Tensor, Tensor, Tensor, Tensor, Tensor)
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
gru_cell_backward(
    const at::Tensor& grad_hy,
    const at::Tensor& workspace,
    bool has_bias) {
  const auto saved = workspace.chunk(5, 1);
  const auto &reset = saved[0], &update = saved[1], &made = saved[2];
  const auto &hx = saved[3], &from_hidden = saved[4];
  const auto made_gate = at::tanh_backward(grad_hy * (1 - update), made);
  const auto update_gate = at::sigmoid_backward(grad_hy * (hx - made), update);
  const auto reset_gate = at::sigmoid_backward(made_gate * from_hidden, reset);
  const auto input_gates = at::cat({reset_gate, update_gate, made_gate}, 1);
  const auto hidden_gates =
      at::cat({reset_gate, update_gate, made_gate * reset}, 1);
  const auto sum = [&](const at::Tensor& gates) {
    return has_bias ? gates.sum(0) : at::Tensor();
  };
  return {
      input_gates,
      hidden_gates,
      grad_hy * update,
      sum(input_gates),
      sum(hidden_gates)};
}

} // namespace TORCHGEN_LITE_NAMESPACE::device

#undef TORCHGEN_LITE_NAMESPACE
