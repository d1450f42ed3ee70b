// Nanoseconds of a generated typed call and of at::_ops', side by side.
//
// The operators are PyTorch's, on tensors of a backend whose kernels do
// nothing, so that only the way to the kernel is measured; autograd is off.
// This is a shared library, as extensions of PyTorch and PyTorch itself are.
// Which of the two goes first changes with each round. Prints one line a
// round: the name and nanoseconds of each measurement.
#include <aten_ops/operators.h>

#include <ATen/Operators.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <torch/library.h>

#include <chrono>
#include <cstdio>

namespace {

// No argument, one, several, many; lists and numbers; by value and by
// reference.
bool is_same_size(const at::Tensor&, const at::Tensor&) {
  return true;
}
at::Tensor add(const at::Tensor& self, const at::Tensor&, const at::Scalar&) {
  return self;
}
at::Tensor& add_out(
    const at::Tensor&,
    const at::Tensor&,
    const at::Scalar&,
    at::Tensor& out) {
  return out;
}
at::Tensor& expand_copy_out(
    const at::Tensor&,
    c10::SymIntArrayRef,
    bool,
    at::Tensor& out) {
  return out;
}
at::Tensor neg(const at::Tensor& self) {
  return self;
}
at::Tensor _convolution(
    const at::Tensor& input,
    const at::Tensor&,
    const std::optional<at::Tensor>&,
    c10::SymIntArrayRef,
    c10::SymIntArrayRef,
    c10::SymIntArrayRef,
    bool,
    c10::SymIntArrayRef,
    c10::SymInt,
    bool,
    bool,
    bool,
    bool) {
  return input;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("is_same_size", TORCH_FN(is_same_size));
  m.impl("_convolution", TORCH_FN(_convolution));
  m.impl("add.Tensor", TORCH_FN(add));
  m.impl("add.out", TORCH_FN(add_out));
  m.impl("expand_copy.out", TORCH_FN(expand_copy_out));
  m.impl("neg", TORCH_FN(neg));
}

struct Arguments {
  at::Tensor x, y;
  at::Scalar alpha = 2;
  std::optional<at::Tensor> bias = y;
  std::vector<c10::SymInt> sizes{2, 3};
  c10::DispatchKeySet keys{c10::DispatchKey::PrivateUse1};
};

template <class Operator>
void sameSize(Arguments& a) {
  Operator::call(a.x, a.y);
}
template <class Operator>
void addOut(Arguments& a) {
  Operator::call(a.x, a.y, a.alpha, a.y);
}
template <class Operator>
void expandOut(Arguments& a) {
  Operator::call(a.x, a.sizes, false, a.y);
}
template <class Operator>
void negate(Arguments& a) {
  Operator::call(a.x);
}
template <class Operator>
void addTensors(Arguments& a) {
  Operator::call(a.x, a.y, a.alpha);
}
template <class Operator>
void convolve(Arguments& a) {
  const c10::SymIntArrayRef sizes = a.sizes;
  Operator::call(
      a.x,
      a.y,
      a.bias,
      sizes,
      sizes,
      sizes,
      false,
      sizes,
      1,
      false,
      false,
      true,
      true);
}
// Without a tensor there is no key: what runs is PyTorch's kernel, which asks a
// constant.
template <class Operator>
void nothing(Arguments&) {
  Operator::call();
}
template <class Operator>
void redispatch(Arguments& a) {
  Operator::redispatch(a.keys, a.x, a.y);
}

using Call = void(Arguments&);

template <Call* call>
double measure(Arguments& arguments) {
  constexpr int calls = 20'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    call(arguments);
  }
  const std::chrono::duration<double, std::nano> time =
      std::chrono::steady_clock::now() - start;
  return time.count() / calls;
}

template <Call* ours, Call* theirs>
void both(const char* name, bool ours_first, Arguments& a) {
  const double first = ours_first ? measure<ours>(a) : measure<theirs>(a);
  const double second = ours_first ? measure<theirs>(a) : measure<ours>(a);
  std::printf("ours-%s %.4f ", name, ours_first ? first : second);
  std::printf("aten-%s %.4f ", name, ours_first ? second : first);
}

} // namespace

#define BOTH(FUNCTION, NAME, OPERATOR)                                     \
  both<&FUNCTION<aten_ops::ops::OPERATOR>, &FUNCTION<at::_ops::OPERATOR>>( \
      NAME,                                                                \
      round % 2 == 0,                                                      \
      arguments)

extern "C" void runRounds(int rounds) {
  const c10::InferenceMode without_autograd;
  const auto tensor = [] {
    return at::detail::make_tensor<c10::TensorImpl>(
        c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
        caffe2::TypeMeta::Make<float>(),
        c10::Device(c10::DeviceType::PrivateUse1, 0));
  };
  Arguments arguments{tensor(), tensor()};
  for (int round = 0; round < rounds; ++round) {
    BOTH(sameSize, "is_same_size", is_same_size);
    BOTH(negate, "neg", neg);
    BOTH(addTensors, "add.Tensor", add_Tensor);
    BOTH(addOut, "add.out", add_out);
    BOTH(expandOut, "expand_copy.out", expand_copy_out);
    BOTH(convolve, "_convolution", _convolution);
    BOTH(nothing, "_nnpack_available", _nnpack_available);
    BOTH(redispatch, "redispatch", is_same_size);
    std::printf("\n");
  }
}
