// Calls between typed and boxed code.
//
// Note [Little code for each signature]
// A program has thousands of signatures, but only a few dozen types. So there
// are out-of-line functions for each type, and a table of them for each
// signature; the code compiled for a signature only takes addresses and makes
// calls.
#pragma once

#include <torchgen_lite/boxing.h>

namespace torchgen_lite {
namespace detail {

struct Kernel;
struct DispatchTable;

// As many as c10 allows.
inline constexpr std::size_t max_arguments = 64;

// Keeps alive what the arguments of one call refer to.
class Kept final {
 public:
  template <class T, class From>
  T& make(const From& from) {
    auto owner = std::make_shared<T>(from);
    T& made = *owner;
    owners_.push_back(std::move(owner));
    return made;
  }

 private:
  std::vector<std::shared_ptr<void>> owners_;
};

template <class T>
void* addressOf(T& object) {
  return const_cast<void*>(
      static_cast<const volatile void*>(std::addressof(object)));
}

// An argument and, if it is a view, its elements.
template <class T>
struct Unboxed {
  explicit Unboxed(const Value& value)
      : elements(unbox<typename Elements<T>::Type>(value)),
        argument(viewOf<T>(elements)) {}

  typename Elements<T>::Type elements;
  T argument;
};

// Objects that are passed by reference stay where they are.
template <class P>
inline constexpr bool is_borrowed = std::is_reference_v<P> &&
    (is_object<Bare<P>> ||
     (std::is_lvalue_reference_v<P> &&
      !std::is_const_v<std::remove_reference_t<P>>));

template <class P>
TORCHGEN_LITE_NOINLINE Value boxFrom(void* argument) {
  return boxArgument<P>(*static_cast<std::remove_reference_t<P>*>(argument));
}

template <class P>
TORCHGEN_LITE_NOINLINE void* unboxTo(const Value& value, Kept& kept) {
  if constexpr (is_borrowed<P>) {
    return addressOf(value.toObject<std::remove_reference_t<P>>());
  } else {
    return addressOf(kept.make<Unboxed<Bare<P>>>(value).argument);
  }
}

// How an argument of one declared type gets onto a stack, and off it.
using Boxer = Value (*)(void* argument);
using Unboxer = void* (*)(const Value& value, Kept& kept);

template <class P>
TORCHGEN_LITE_ALWAYS_INLINE P pass(void* argument) {
  using T = std::remove_reference_t<P>;
  if constexpr (std::is_lvalue_reference_v<P>) {
    return *static_cast<T*>(argument);
  } else {
    return std::move(*static_cast<T*>(argument));
  }
}

// A boxed kernel behind a typed call.
class BoxedCall final {
 public:
  // Runs the kernel, and checks that only its results are left.
  BoxedCall(
      const DispatchTable& table,
      DispatchKeySet keys,
      const Boxer* boxers,
      void* const* arguments,
      std::size_t count,
      int returns);
  TORCHGEN_LITE_NOINLINE ~BoxedCall() {}
  BoxedCall(const BoxedCall&) = delete;
  BoxedCall& operator=(const BoxedCall&) = delete;

  Value& result(std::size_t index) {
    return stack_[index];
  }

 private:
  Stack stack_;
};

// An unboxed kernel behind a boxed call.
class UnboxedCall final {
 public:
  TORCHGEN_LITE_NOINLINE UnboxedCall(
      const Unboxer* unboxers,
      std::size_t count,
      Stack& stack)
      : stack_(stack), count_(count) {
    const Value* values = stack.data() + (stack.size() - count);
    for (std::size_t i = 0; i < count; ++i) {
      arguments_[i] = unboxers[i](values[i], kept_);
    }
  }
  TORCHGEN_LITE_NOINLINE ~UnboxedCall() {}
  UnboxedCall(const UnboxedCall&) = delete;
  UnboxedCall& operator=(const UnboxedCall&) = delete;

  void* argument(std::size_t index) const {
    return arguments_[index];
  }

  void push(Value result) {
    results_.push_back(std::move(result));
  }

  // A reference refers to an argument. The result is the value that holds the
  // argument, which keeps it alive, or else a borrowed one.
  void pushReference(Value reference) {
    for (std::size_t i = stack_.size() - count_; i < stack_.size(); ++i) {
      if (stack_[i].address() == reference.address()) {
        reference = stack_[i];
        break;
      }
    }
    push(std::move(reference));
  }

  // Replaces the arguments by the results.
  TORCHGEN_LITE_NOINLINE void finish() {
    stack_.resize(stack_.size() - count_);
    for (Value& result : results_) {
      stack_.push_back(std::move(result));
    }
  }

 private:
  Stack& stack_;
  std::size_t count_;
  void* arguments_[max_arguments];
  Kept kept_;
  Stack results_;
};

template <class R>
TORCHGEN_LITE_NOINLINE void pushResult(UnboxedCall& call, R&& result) {
  if constexpr (std::is_lvalue_reference_v<R>) {
    call.pushReference(Value::borrow(result));
  } else {
    call.push(boxOwned<R>(std::move(result)));
  }
}

template <class R>
TORCHGEN_LITE_NOINLINE R popResult(Value& value) {
  if constexpr (std::is_lvalue_reference_v<R>) {
    if (!value.isBorrowed()) {
      throw Error(
          "the result is a reference to an argument, but a boxed kernel gave "
          "a value of its own");
    }
    return value.toObject<std::remove_reference_t<R>>();
  } else if constexpr (is_object<R>) {
    if (value.isUnique()) {
      return std::move(value.toObject<R>());
    }
    return unbox<R>(value);
  } else {
    return unbox<R>(value);
  }
}

// What a call returns: nothing, one result, or a tuple of several.
template <class R>
struct Results {
  static constexpr int count = 1;

  static void push(UnboxedCall& call, R&& result) {
    pushResult<R>(call, std::forward<R>(result));
  }
  static R pop(BoxedCall& call) {
    return popResult<R>(call.result(0));
  }
};
template <>
struct Results<void> {
  static constexpr int count = 0;

  static void pop(BoxedCall&) {}
};
template <class... Rs>
struct Results<std::tuple<Rs...>> {
  static constexpr int count = sizeof...(Rs);

  TORCHGEN_LITE_NOINLINE static void push(
      UnboxedCall& call,
      std::tuple<Rs...>&& result) {
    std::apply(
        [&](auto&&... each) {
          (pushResult<Rs>(call, std::forward<Rs>(each)), ...);
        },
        std::move(result));
  }
  TORCHGEN_LITE_NOINLINE static std::tuple<Rs...> pop(BoxedCall& call) {
    return pop(call, std::index_sequence_for<Rs...>());
  }

 private:
  template <std::size_t... I>
  static std::tuple<Rs...> pop(BoxedCall& call, std::index_sequence<I...>) {
    return std::tuple<Rs...>(popResult<Rs>(call.result(I))...);
  }
};

} // namespace detail
} // namespace torchgen_lite
