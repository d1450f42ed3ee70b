// What the dispatcher keeps of a C++ signature: its identity, and the function
// for table slots that have no unboxed kernel.
//
// Note [Who compiles what]
// Typed calls need code that passes their arguments to a boxed kernel; unboxed
// kernels need code that takes their parameters from a stack. Files with calls
// compile the former, files with kernels the latter, once for each signature.
#pragma once

#include <string>

#include <torchgen_lite/boxed_call.h>

namespace torchgen_lite {

class OperatorEntry;
class OperatorHandle;

namespace detail {

struct DispatchTable;

// Every function of a table, cast back before it is called.
using AnyFunction = void (*)();
// These get the table, and find the kernel in it where they need one.
using BoxedFunction = void (*)(const DispatchTable&, DispatchKeySet, Stack&);

template <class Signature>
struct UnboxedFunction;
// The keyset is first and the table last, so that what a redispatch is called
// with, and a kernel that takes the keyset, is already where it has to be.
template <class R, class... Args>
struct UnboxedFunction<R(Args...)> {
  using Type = R (*)(DispatchKeySet, Args..., const DispatchTable&);
};

struct SignatureInfo {
  TypeId id;
  int arguments;
  int returns;
  // Runs a boxed kernel, or the stand-in for one that cannot be run, on the
  // arguments of a typed call. Null if only kernels have given the signature.
  AnyFunction box;

  template <class Signature>
  static const SignatureInfo& ofCalls();
};

// Throws; see OperatorEntry::report.
[[noreturn]] void report(const Kernel& kernel, DispatchKeySet keys);
AnyFunction unboxedOf(const Kernel& kernel);
const Kernel& kernelOf(const DispatchTable& table, DispatchKeySet keys);

template <class Signature>
struct Thunks;

template <class R, class... Args>
struct Thunks<R(Args...)> {
  static_assert(
      sizeof...(Args) <= max_arguments,
      "an operator has at most 64 arguments");

  static constexpr int arguments = sizeof...(Args);
  static constexpr int returns = Results<R>::count;
  // One element more, since a signature may have none.
  static constexpr Boxer boxers[] = {&boxFrom<Args>..., nullptr};
  static constexpr Unboxer unboxers[] = {&unboxTo<Args>..., nullptr};

  TORCHGEN_LITE_COLD static R box(
      DispatchKeySet keys,
      Args... values,
      const DispatchTable& table) {
    void* const pointers[] = {addressOf(values)..., nullptr};
    BoxedCall call(table, keys, boxers, pointers, sizeof...(Args), returns);
    return Results<R>::pop(call);
  }

  // Runs an unboxed kernel on a stack.
  TORCHGEN_LITE_COLD static void unbox(
      const DispatchTable& table,
      DispatchKeySet keys,
      Stack& stack) {
    UnboxedCall call(unboxers, sizeof...(Args), stack);
    run(table, keys, call, std::index_sequence_for<Args...>());
    call.finish();
  }

 private:
  template <std::size_t... I>
  static void run(
      const DispatchTable& table,
      DispatchKeySet keys,
      UnboxedCall& call,
      std::index_sequence<I...>) {
    const auto function =
        reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
            unboxedOf(kernelOf(table, keys)));
    if constexpr (std::is_void_v<R>) {
      function(keys, pass<Args>(call.argument(I))..., table);
    } else {
      Results<R>::push(
          call,
          function(keys, pass<Args>(call.argument(I))..., table));
    }
  }
};

template <class Signature>
const SignatureInfo& SignatureInfo::ofCalls() {
  static const SignatureInfo info = {
      TypeId::of<Signature>(),
      Thunks<Signature>::arguments,
      Thunks<Signature>::returns,
      reinterpret_cast<AnyFunction>(&Thunks<Signature>::box)};
  return info;
}

// The signature that kernels give.
template <class Signature>
inline constexpr SignatureInfo signature_of_kernels = {
    TypeId::of<Signature>(),
    Thunks<Signature>::arguments,
    Thunks<Signature>::returns,
    nullptr};

} // namespace detail
} // namespace torchgen_lite
