// Nanoseconds of a call: ours, c10's, an indirect one and a virtual one.
//
// Every kernel does nothing and returns nothing, so that only the way to it is
// measured. With WITH_TORCH both dispatchers run on the same at::Tensor, whose
// keys come from key_set() on both sides; without it ours runs on a struct of
// the same shape: a pointer to an object that holds the keyset. Each call goes
// through a function that is not inlined, as generated code's `call` does.
// Prints one line a round: the name and nanoseconds of each measurement.
#include <torchgen_lite/runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#ifdef WITH_TORCH
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

using Tensor = at::Tensor;
#else
struct TensorImpl {
  std::uint64_t keys;
};
struct Tensor {
  const TensorImpl* impl;
};
#endif

template <>
struct torchgen_lite::KeysetOf<Tensor> {
  static DispatchKeySet get(const Tensor& tensor) noexcept {
#ifdef WITH_TORCH
    return DispatchKeySet::from_raw_repr(tensor.key_set().raw_repr());
#else
    return DispatchKeySet::from_raw_repr(tensor.impl->keys);
#endif
  }
};

namespace {

#define NOT_INLINED __attribute__((noinline))

using Signature = void(const Tensor&, const Tensor&);

void nothing(const Tensor&, const Tensor&) {
  asm volatile("");
}

namespace ours {

using namespace torchgen_lite;

StaticOperatorHandle<Signature> once("bench::once");
StaticOperatorHandle<Signature> twice("bench::twice");

NOT_INLINED void callOnce(const Tensor& x, const Tensor& y) {
  once.call(x, y);
}
NOT_INLINED void callTwice(const Tensor& x, const Tensor& y) {
  twice.call(x, y);
}
NOT_INLINED void redispatchTwice(
    DispatchKeySet keys,
    const Tensor& x,
    const Tensor& y) {
  twice.redispatch(keys, x, y);
}

void autograd(DispatchKeySet keys, const Tensor& x, const Tensor& y) {
  redispatchTwice(keys & after_autograd_keyset, x, y);
  asm volatile("");
}

TORCHGEN_LITE_LIBRARY(bench, m) {
  m.def("once(Tensor x, Tensor y) -> ()");
  m.def("twice(Tensor x, Tensor y) -> ()");
  m.impl("once", DispatchKey::CPU, TORCHGEN_LITE_FN(nothing));
  m.impl("twice", DispatchKey::CPU, TORCHGEN_LITE_FN(nothing));
  m.impl("twice", DispatchKey::AutogradCPU, TORCHGEN_LITE_FN(autograd));
}
// What ATen registers, so that the tensor's other keys are passed by.
TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradCPU, m) {
  m.fallback(fallthrough());
}
TORCHGEN_LITE_LIBRARY_IMPL(_, ADInplaceOrView, m) {
  m.fallback(fallthrough());
}

} // namespace ours

#ifdef WITH_TORCH
namespace theirs {

using Handle = c10::TypedOperatorHandle<Signature>;

Handle find(const char* name) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(name, "")
      .typed<Signature>();
}

NOT_INLINED void callOnce(const Tensor& x, const Tensor& y) {
  static const Handle op = find("bench::once");
  op.call(x, y);
}
NOT_INLINED void callTwice(const Tensor& x, const Tensor& y) {
  static const Handle op = find("bench::twice");
  op.call(x, y);
}
NOT_INLINED void redispatchTwice(
    c10::DispatchKeySet keys,
    const Tensor& x,
    const Tensor& y) {
  static const Handle op = find("bench::twice");
  op.redispatch(keys, x, y);
}

void autograd(c10::DispatchKeySet keys, const Tensor& x, const Tensor& y) {
  redispatchTwice(keys & c10::after_autograd_keyset, x, y);
  asm volatile("");
}

TORCH_LIBRARY(bench, m) {
  m.def("once(Tensor x, Tensor y) -> ()");
  m.def("twice(Tensor x, Tensor y) -> ()");
}
TORCH_LIBRARY_IMPL(bench, CPU, m) {
  m.impl("once", TORCH_FN(nothing));
  m.impl("twice", TORCH_FN(nothing));
}
TORCH_LIBRARY_IMPL(bench, AutogradCPU, m) {
  m.impl("once", torch::CppFunction::makeFallthrough());
  m.impl("twice", TORCH_FN(autograd));
}

} // namespace theirs
#endif

struct Base {
  virtual ~Base() = default;
  virtual void run(const Tensor&, const Tensor&) {
    asm volatile("");
  }
};
struct Derived final : Base {
  void run(const Tensor&, const Tensor&) override {
    asm volatile("# derived");
  }
};

// The compiler must not know which.
volatile bool derived = true;
void (*volatile pointer)(const Tensor&, const Tensor&) = &nothing;
Base* volatile object = derived ? new Derived : new Base;

NOT_INLINED void callPointer(const Tensor& x, const Tensor& y) {
  pointer(x, y);
}
NOT_INLINED void callVirtual(const Tensor& x, const Tensor& y) {
  object->run(x, y);
}

template <void (*function)(const Tensor&, const Tensor&)>
void measure(const char* name, const Tensor& x, const Tensor& y) {
  // Short, so that other processes seldom get in between.
  constexpr int calls = 20'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    function(x, y);
  }
  const std::chrono::duration<double, std::nano> time =
      std::chrono::steady_clock::now() - start;
  std::printf("%s %.4f ", name, time.count() / calls);
}

class Silent final : public torchgen_lite::Observer {
  void enter(const torchgen_lite::CallRecord&) override {}
};

} // namespace

extern "C" void runRounds(int rounds) {
#ifdef WITH_TORCH
  const Tensor x = at::ones({1}), y = at::ones({1});
#else
  using torchgen_lite::DispatchKey;
  const TensorImpl impl{torchgen_lite::DispatchKeySet{
      DispatchKey::CPU,
      DispatchKey::ADInplaceOrView,
      DispatchKey::AutogradCPU,
      DispatchKey::AutocastCPU}
                            .raw_repr()};
  const Tensor x{&impl}, y{&impl};
#endif
  for (int round = 0; round < rounds; ++round) {
    measure<callPointer>("pointer", x, y);
    measure<callVirtual>("virtual", x, y);
    measure<ours::callOnce>("ours-once", x, y);
    measure<ours::callTwice>("ours-twice", x, y);
#ifdef WITH_TORCH
    measure<theirs::callOnce>("c10-once", x, y);
    measure<theirs::callTwice>("c10-twice", x, y);
#endif
    {
      // Once observers have come and gone, calls are as fast as before.
      const torchgen_lite::RegistrationHandle watching =
          torchgen_lite::Dispatcher::singleton().addObserver(
              std::make_shared<Silent>());
      ours::callOnce(x, y);
    }
    ours::callOnce(x, y);
    std::printf("\n");
  }
}

#ifndef IN_A_LIBRARY
int main(int, char** arguments) {
  runRounds(std::atoi(arguments[1]));
}
#endif
