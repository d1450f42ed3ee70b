// What the dispatcher keeps of a C++ signature: its identity, its text, and
// the functions that stand in a table where no unboxed kernel does. One for
// each signature, whatever number of operators and kernels has it.
#pragma once

#include <string>

#include <torchgen_lite/boxing.h>

namespace torchgen_lite {

class OperatorEntry;
class OperatorHandle;

namespace detail {

struct Kernel;
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
  std::string_view text;
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
void runBoxed(
    const Kernel& kernel,
    DispatchKeySet keys,
    Stack& stack,
    int returns);
AnyFunction unboxedOf(const Kernel& kernel);

template <class Signature>
struct Thunks;

template <class R, class... Args>
struct Thunks<R(Args...)> {
  TORCHGEN_LITE_COLD static R raise(
      const Kernel& kernel,
      DispatchKeySet keys,
      Args...) {
    report(kernel, keys);
  }

  static R box(const Kernel& kernel, DispatchKeySet keys, Args... arguments) {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(boxArgument<Args>(arguments)), ...);
    runBoxed(kernel, keys, stack, Results<R>::count);
    return Results<R>::pop(stack.data());
  }

  static void unbox(const Kernel& kernel, DispatchKeySet keys, Stack& stack) {
    unbox(kernel, keys, stack, std::index_sequence_for<Args...>());
  }

 private:
  template <std::size_t... I>
  static void unbox(
      const Kernel& kernel,
      DispatchKeySet keys,
      Stack& stack,
      std::index_sequence<I...>) {
    const auto function =
        reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
            unboxedOf(kernel));
    [[maybe_unused]] Value* arguments =
        stack.data() + (stack.size() - sizeof...(Args));
    Stack results;
    if constexpr (std::is_void_v<R>) {
      function(kernel, keys, Unboxed<Args>(arguments[I]).get()...);
    } else {
      Results<R>::push(
          results,
          arguments,
          sizeof...(Args),
          function(kernel, keys, Unboxed<Args>(arguments[I]).get()...));
    }
    stack.resize(stack.size() - sizeof...(Args));
    for (Value& result : results) {
      stack.push_back(std::move(result));
    }
  }
};

template <class Signature>
struct Counts;
template <class R, class... Args>
struct Counts<R(Args...)> {
  static constexpr int arguments = sizeof...(Args);
  static constexpr int returns = Results<R>::count;
};

template <class Signature>
const SignatureInfo& SignatureInfo::of() {
  static const SignatureInfo info = {
      TypeId::of<Signature>(),
      typeName<Signature>(),
      Counts<Signature>::arguments,
      Counts<Signature>::returns,
      reinterpret_cast<AnyFunction>(&Thunks<Signature>::raise),
      reinterpret_cast<AnyFunction>(&Thunks<Signature>::box),
      &Thunks<Signature>::unbox};
  return info;
}

} // namespace detail
} // namespace torchgen_lite
