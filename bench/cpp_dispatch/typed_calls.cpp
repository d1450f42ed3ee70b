// Nanoseconds of a generated typed call and of at::_ops', side by side; and of
// what at::_ops does, compiled by the same compiler as the generated one.
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

#include <array>
#include <chrono>
#include <cstdio>
#include <type_traits>

// An operator of at::_ops, compiled here. It has a name outside of the library,
// as the two others have.
template <class Operator, class Schema = typename Operator::schema>
struct Here;
template <class Operator, class Return, class... Args>
struct Here<Operator, Return(Args...)> {
  C10_NOINLINE static c10::TypedOperatorHandle<Return(Args...)> find() {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(Operator::name, Operator::overload_name)
        .template typed<Return(Args...)>();
  }
  TORCH_API C10_NOINLINE static Return call(Args... args) {
    static const auto op = find();
    return op.call(std::forward<Args>(args)...);
  }
  TORCH_API C10_NOINLINE static Return redispatch(
      c10::DispatchKeySet keys,
      Args... args) {
    static const auto op = find();
    return op.redispatch(keys, std::forward<Args>(args)...);
  }
};

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

template <class Call>
void sameSize(Call* call, Arguments& a) {
  call(a.x, a.y);
}
template <class Call>
void addOut(Call* call, Arguments& a) {
  call(a.x, a.y, a.alpha, a.y);
}
template <class Call>
void expandOut(Call* call, Arguments& a) {
  call(a.x, a.sizes, false, a.y);
}
template <class Call>
void negate(Call* call, Arguments& a) {
  call(a.x);
}
template <class Call>
void addTensors(Call* call, Arguments& a) {
  call(a.x, a.y, a.alpha);
}
template <class Call>
void convolve(Call* call, Arguments& a) {
  const c10::SymIntArrayRef sizes = a.sizes;
  call(
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
template <class Call>
void nothing(Call* call, Arguments&) {
  call();
}
template <class Call>
void redispatch(Call* call, Arguments& a) {
  call(a.keys, a.x, a.y);
}

// One loop for the three, so that it costs each of them the same.
template <class Call>
using Caller = void(Call*, Arguments&);

template <class Call, Caller<Call>* caller>
C10_NOINLINE double measure(Call* call, Arguments& arguments) {
  constexpr int calls = 20'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    caller(call, arguments);
  }
  const std::chrono::duration<double, std::nano> time =
      std::chrono::steady_clock::now() - start;
  return time.count() / calls;
}

template <class Call, Caller<Call>* caller>
void compare(
    const char* name,
    std::array<Call*, 3> calls,
    int round,
    Arguments& arguments) {
  constexpr std::array<const char*, 3> sides{"ours", "here", "aten"};
  std::array<double, 3> times;
  for (int i = 0; i < 3; ++i) {
    const int next = (round + i) % 3;
    times[next] = measure<Call, caller>(calls[next], arguments);
  }
  for (int i = 0; i < 3; ++i) {
    std::printf("%s-%s %.4f ", sides[i], name, times[i]);
  }
}

} // namespace

#define COMPARE(CALLER, NAME, OPERATOR, CALL)                     \
  compare<                                                        \
      std::remove_pointer_t<decltype(&at::_ops::OPERATOR::CALL)>, \
      &CALLER>(                                                   \
      NAME,                                                       \
      {&aten_ops::ops::OPERATOR::CALL,                            \
       &Here<at::_ops::OPERATOR>::CALL,                           \
       &at::_ops::OPERATOR::CALL},                                \
      round,                                                      \
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
    COMPARE(sameSize, "is_same_size", is_same_size, call);
    COMPARE(negate, "neg", neg, call);
    COMPARE(addTensors, "add.Tensor", add_Tensor, call);
    COMPARE(addOut, "add.out", add_out, call);
    COMPARE(expandOut, "expand_copy.out", expand_copy_out, call);
    COMPARE(convolve, "_convolution", _convolution, call);
    COMPARE(nothing, "_nnpack_available", _nnpack_available, call);
    COMPARE(redispatch, "redispatch", is_same_size, redispatch);
    std::printf("\n");
  }
}
