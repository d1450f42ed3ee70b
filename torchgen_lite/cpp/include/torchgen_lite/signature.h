// What the dispatcher keeps of a C++ signature: its identity, its text, and
// the functions that stand in a table where no unboxed kernel does. One for
// each signature, whatever number of operators and kernels has it.
#pragma once

#include <string>

#include <torchgen_lite/boxed_call.h>

namespace torchgen_lite {

class OperatorEntry;
class OperatorHandle;

namespace detail {

// Every function of a table, cast back before it is called.
using AnyFunction = void (*)();
using BoxedFunction = void (*)(const Kernel&, DispatchKeySet, Stack&);

template <class Signature>
struct UnboxedFunction;
template <class R, class... Args>
struct UnboxedFunction<R(Args...)> {
  using Type = R (*)(const Kernel&, DispatchKeySet, Args...);
};

struct SignatureInfo {
  TypeId id;
  std::string_view (*text)();
  int arguments;
  int returns;
  // Reports that the kernel cannot be run.
  AnyFunction raise;
  // Runs a boxed kernel on the arguments of a typed call.
  AnyFunction box;
  // Runs an unboxed kernel on a stack.
  BoxedFunction unbox;

  template <class Signature>
  static const SignatureInfo& of();
};

// Throws; see OperatorEntry::report.
[[noreturn]] void report(const Kernel& kernel, DispatchKeySet keys);
AnyFunction unboxedOf(const Kernel& kernel);

template <class Signature>
struct Thunks;

template <class R, class... Args>
struct Thunks<R(Args...)> {
  static_assert(
      sizeof...(Args) <= max_arguments,
      "an operator has at most 64 arguments");

  static constexpr int arguments = sizeof...(Args);
  static constexpr int returns = Results<R>::count;
  // One more, for signatures without any.
  static constexpr ArgumentType types[] = {
      {&boxFrom<Args>, &unboxTo<Args>}...,
      {nullptr, nullptr}};

  TORCHGEN_LITE_COLD static R raise(
      const Kernel& kernel,
      DispatchKeySet keys,
      Args...) {
    report(kernel, keys);
  }

  TORCHGEN_LITE_NOINLINE static R box(
      const Kernel& kernel,
      DispatchKeySet keys,
      Args... arguments) {
    void* const pointers[] = {addressOf(arguments)..., nullptr};
    BoxedCall call(kernel, keys, types, pointers, sizeof...(Args), returns);
    return Results<R>::pop(call);
  }

  TORCHGEN_LITE_NOINLINE static void unbox(
      const Kernel& kernel,
      DispatchKeySet keys,
      Stack& stack) {
    UnboxedCall call(types, sizeof...(Args), stack);
    run(kernel, keys, call, std::index_sequence_for<Args...>());
    call.finish();
  }

 private:
  template <std::size_t... I>
  static void run(
      const Kernel& kernel,
      DispatchKeySet keys,
      UnboxedCall& call,
      std::index_sequence<I...>) {
    const auto function =
        reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
            unboxedOf(kernel));
    if constexpr (std::is_void_v<R>) {
      function(kernel, keys, pass<Args>(call.argument(I))...);
    } else {
      Results<R>::push(
          call,
          function(kernel, keys, pass<Args>(call.argument(I))...));
    }
  }
};

template <class Signature>
const SignatureInfo& SignatureInfo::of() {
  static const SignatureInfo info = {
      TypeId::of<Signature>(),
      &typeName<Signature>,
      Thunks<Signature>::arguments,
      Thunks<Signature>::returns,
      reinterpret_cast<AnyFunction>(&Thunks<Signature>::raise),
      reinterpret_cast<AnyFunction>(&Thunks<Signature>::box),
      &Thunks<Signature>::unbox};
  return info;
}

} // namespace detail
} // namespace torchgen_lite
