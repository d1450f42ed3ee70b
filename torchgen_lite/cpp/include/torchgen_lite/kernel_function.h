// KernelFunction, the argument of impl() and fallback(), and Kernel, which a
// table points to.
//
// Note [Three ways to call a kernel]
// A slot of a table is a function and a kernel; the function is called with the
// keyset of the call, the arguments and the table.
//   - TORCHGEN_LITE_FN(f): the function is made for f alone and calls it
//     directly.
//   - any other callable: the function finds the kernel in the table, and the
//     callable in the kernel.
//   - boxed(f): the function puts the arguments on a stack.
// Callables whose first parameter is a DispatchKeySet get the keyset of the
// call.
#pragma once

#include <memory>

#include <torchgen_lite/signature.h>

namespace torchgen_lite {
namespace detail {

// The parts of a callable's type. `Signature` leaves the keyset out.
template <class R, bool WithKeyset, class... Args>
struct CallableParts {
  using Signature = R(Args...);
  using Pointer = std::conditional_t<
      WithKeyset,
      R (*)(DispatchKeySet, Args...),
      R (*)(Args...)>;
  static constexpr bool with_keyset = WithKeyset;
};

template <class Type>
struct PartsOfFunction;
template <class R, class... Args>
struct PartsOfFunction<R(Args...)> : CallableParts<R, false, Args...> {};
template <class R, class... Args>
struct PartsOfFunction<R(DispatchKeySet, Args...)>
    : CallableParts<R, true, Args...> {};
template <class R, class... Args>
struct PartsOfFunction<R(Args...) noexcept> : PartsOfFunction<R(Args...)> {};

template <class Member>
struct PartsOfMember;
template <class F, class R, class... Args>
struct PartsOfMember<R (F::*)(Args...)> : PartsOfFunction<R(Args...)> {};
template <class F, class R, class... Args>
struct PartsOfMember<R (F::*)(Args...) const> : PartsOfFunction<R(Args...)> {};
template <class F, class R, class... Args>
struct PartsOfMember<R (F::*)(Args...) noexcept> : PartsOfFunction<R(Args...)> {
};
template <class F, class R, class... Args>
struct PartsOfMember<R (F::*)(Args...) const noexcept>
    : PartsOfFunction<R(Args...)> {};

template <class F, class = void>
struct PartsOf : PartsOfFunction<std::remove_pointer_t<F>> {};
template <class F>
struct PartsOf<F, std::void_t<decltype(&F::operator())>>
    : PartsOfMember<decltype(&F::operator())> {};

// The keyset and the arguments, as a callable takes them.
template <bool WithKeyset, class F, class... Args>
TORCHGEN_LITE_ALWAYS_INLINE decltype(auto) callWith(
    F& function,
    [[maybe_unused]] DispatchKeySet keys,
    Args&&... arguments) {
  if constexpr (WithKeyset) {
    return function(keys, std::forward<Args>(arguments)...);
  } else {
    return function(std::forward<Args>(arguments)...);
  }
}

enum class KernelKind : std::uint8_t {
  Normal,
  Fallthrough,
  // Fills the slots of a table that no kernel serves.
  Missing,
  Ambiguous,
  Undefined,
};

// One registration at an operator. It does not change once a table has it, and
// lives as long as the operator's entry: calls may run while it is undone.
struct Kernel {
  OperatorEntry* op = nullptr;
  KernelKind kind = KernelKind::Normal;
  bool is_fallback = false;
  DispatchKey key = DispatchKey::Undefined;
  Site site;
  // Null for a boxed kernel.
  AnyFunction unboxed = nullptr;
  BoxedFunction boxed = nullptr;
  // A callable that is a function.
  AnyFunction code = nullptr;
  // A callable that is an object.
  std::shared_ptr<void> functor;
  const SignatureInfo* signature = nullptr;

  bool operator==(const Kernel& other) const {
    return kind == other.kind && is_fallback == other.is_fallback &&
        key == other.key && site.file == other.site.file &&
        site.line == other.site.line && unboxed == other.unboxed &&
        boxed == other.boxed && code == other.code && functor == other.functor;
  }
};

inline AnyFunction unboxedOf(const Kernel& kernel) {
  return kernel.unboxed;
}

template <class F, F function, class Signature>
struct CallConstant;
template <class F, F function, class R, class... Args>
struct CallConstant<F, function, R(Args...)> {
  static R call(DispatchKeySet keys, Args... arguments, const DispatchTable&) {
    return callWith<PartsOf<F>::with_keyset>(
        *function,
        keys,
        std::forward<Args>(arguments)...);
  }
};

template <class F, class Signature>
struct CallStored;
template <class F, class R, class... Args>
struct CallStored<F, R(Args...)> {
  static R code(
      DispatchKeySet keys,
      Args... arguments,
      const DispatchTable& table) {
    return callWith<PartsOf<F>::with_keyset>(
        *reinterpret_cast<F>(kernelOf(table, keys).code),
        keys,
        std::forward<Args>(arguments)...);
  }
  static R functor(
      DispatchKeySet keys,
      Args... arguments,
      const DispatchTable& table) {
    return callWith<PartsOf<F>::with_keyset>(
        *static_cast<F*>(kernelOf(table, keys).functor.get()),
        keys,
        std::forward<Args>(arguments)...);
  }
};

template <class F>
struct BoxedCallable {
  F function;
};
struct FallthroughKernel {};

// A function as a template argument: see TORCHGEN_LITE_FN.
template <class F, F function>
struct Constant {
  using Signature = typename PartsOf<F>::Signature;
  static constexpr const SignatureInfo& signature =
      signature_of_kernels<Signature>;

  TORCHGEN_LITE_ALWAYS_INLINE static AnyFunction call() {
    return reinterpret_cast<AnyFunction>(
        &CallConstant<F, function, Signature>::call);
  }
  TORCHGEN_LITE_ALWAYS_INLINE static BoxedFunction boxed() {
    return &Thunks<Signature>::unbox;
  }
};

using BoxedPointer = void (*)(const OperatorHandle&, DispatchKeySet, Stack&);

void callBoxedCode(
    const DispatchTable& table,
    DispatchKeySet keys,
    Stack& stack);
template <class F>
void callBoxedFunctor(
    const DispatchTable& table,
    DispatchKeySet keys,
    Stack& stack);
// Stands in for a kernel that cannot be run.
void reportBoxed(const DispatchTable& table, DispatchKeySet keys, Stack& stack);

} // namespace detail

// A function that is known at compile time.
#define TORCHGEN_LITE_FN(function)                                   \
  (::torchgen_lite::detail::Constant<                                \
      std::add_pointer_t<std::remove_pointer_t<decltype(function)>>, \
      function>())

// A kernel `void(const OperatorHandle&, DispatchKeySet, Stack&)`, which takes
// its arguments off the end of the stack and pushes its results.
template <class F>
detail::BoxedCallable<F> boxed(F function) {
  return {std::move(function)};
}

// The kernel that does nothing at its key; the call goes on with the next key.
inline detail::FallthroughKernel fallthrough() {
  return {};
}

class KernelFunction final {
 public:
  // Any callable; constructed from the argument of impl().
  template <
      class F,
      class =
          std::enable_if_t<!std::is_same_v<std::decay_t<F>, KernelFunction>>>
  KernelFunction(F&& callable) {
    using Function = std::decay_t<F>;
    using Parts = detail::PartsOf<Function>;
    using Signature = typename Parts::Signature;
    kernel_.signature = &detail::signature_of_kernels<Signature>;
    kernel_.boxed = &detail::Thunks<Signature>::unbox;
    using Pointer = typename Parts::Pointer;
    if constexpr (
        std::is_pointer_v<Function> ||
        (std::is_empty_v<Function> &&
         std::is_convertible_v<Function, Pointer>)) {
      // A lambda without captures is a function.
      kernel_.unboxed = reinterpret_cast<detail::AnyFunction>(
          &detail::CallStored<Pointer, Signature>::code);
      kernel_.code =
          reinterpret_cast<detail::AnyFunction>(static_cast<Pointer>(callable));
    } else {
      kernel_.unboxed = reinterpret_cast<detail::AnyFunction>(
          &detail::CallStored<Function, Signature>::functor);
      kernel_.functor = std::make_shared<Function>(std::forward<F>(callable));
    }
  }

  template <class F, F function>
  KernelFunction(detail::Constant<F, function> constant)
      : KernelFunction(constant.call(), constant.boxed(), constant.signature) {}

  KernelFunction(
      detail::AnyFunction unboxed,
      detail::BoxedFunction boxed,
      const detail::SignatureInfo& signature) {
    kernel_.unboxed = unboxed;
    kernel_.boxed = boxed;
    kernel_.signature = &signature;
  }

  template <class F>
  KernelFunction(detail::BoxedCallable<F> callable) {
    if constexpr (std::is_convertible_v<F, detail::BoxedPointer>) {
      kernel_.boxed = &detail::callBoxedCode;
      kernel_.code = reinterpret_cast<detail::AnyFunction>(
          static_cast<detail::BoxedPointer>(callable.function));
    } else {
      kernel_.boxed = &detail::callBoxedFunctor<F>;
      kernel_.functor = std::make_shared<F>(std::move(callable.function));
    }
  }

  KernelFunction(detail::FallthroughKernel) {
    kernel_.kind = detail::KernelKind::Fallthrough;
    kernel_.boxed = &detail::reportBoxed;
  }

  bool isFallthrough() const {
    return kernel_.kind == detail::KernelKind::Fallthrough;
  }
  bool isValidUnboxed() const {
    return kernel_.unboxed != nullptr;
  }
  // The kernel as data, not yet bound to an operator.
  const detail::Kernel& kernel() const {
    return kernel_;
  }

 private:
  detail::Kernel kernel_;
};

} // namespace torchgen_lite
