// Calls a function of ours and PyTorch's with the same arguments, and compares
// where they arrive: at which operator, with which arguments.
//
// A key that no kernel is registered for, TESTING_ONLY_GenericMode, catches
// every call before any kernel runs. So nothing is computed, and any operator
// can be called with anything.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace record {

constexpr auto KEY = c10::DispatchKey::TESTING_ONLY_GenericMode;

// How arguments are given. What is optional is there, then it isn't; then the
// memory format is in the options.
enum class Given { all, required, format };
inline Given given = Given::all;
constexpr std::array<Given, 3> WAYS{Given::all, Given::required, Given::format};

// Tensors are made before any call is caught.
at::Tensor& tensor(int i);

// The argument at position i. Each position has another value.
template <class T>
struct Value {
  static_assert(std::is_arithmetic_v<T>);
  static T get(int i) {
    return static_cast<T>(i + 10);
  }
};
template <>
struct Value<bool> {
  static bool get(int i) {
    return (i + static_cast<int>(given)) % 2 == 0;
  }
};
template <>
struct Value<double> {
  static double get(int i) {
    return i + 0.5;
  }
};
template <class T>
struct Value<std::optional<T>> {
  static std::optional<T> get(int i) {
    return given == Given::all ? std::optional<T>(Value<T>::get(i))
                               : std::nullopt;
  }
};
template <class T>
struct Value<at::ArrayRef<T>> {
  static at::ArrayRef<T> get(int i) {
    static std::deque<std::vector<T>> kept;
    kept.push_back({Value<T>::get(10 * i + 20), Value<T>::get(10 * i + 21)});
    return kept.back();
  }
};
template <class T>
struct Value<at::OptionalArrayRef<T>> {
  static at::OptionalArrayRef<T> get(int i) {
    return given == Given::all
        ? at::OptionalArrayRef<T>(Value<at::ArrayRef<T>>::get(i))
        : at::OptionalArrayRef<T>();
  }
};
template <class T, std::size_t n>
struct Value<std::array<T, n>> {
  static std::array<T, n> get(int i) {
    std::array<T, n> made;
    for (std::size_t j = 0; j < n; ++j) {
      made[j] = j < n / 2 || Value<T>::get(i);
    }
    return made;
  }
};
template <>
struct Value<at::Tensor> {
  static at::Tensor& get(int i) {
    return tensor(i);
  }
};
template <>
struct Value<at::ITensorListRef> {
  static at::ITensorListRef get(int i) {
    return Value<at::TensorList>::get(i);
  }
};
template <>
struct Value<c10::List<std::optional<at::Tensor>>> {
  static c10::List<std::optional<at::Tensor>> get(int i) {
    return {tensor(10 * i + 20), std::nullopt, tensor(10 * i + 21)};
  }
};
template <>
struct Value<at::Scalar> {
  static at::Scalar get(int i) {
    return i + 0.25;
  }
};
template <>
struct Value<c10::SymInt> {
  static c10::SymInt get(int i) {
    return i + 10;
  }
};
template <>
struct Value<c10::string_view> {
  static c10::string_view get(int i) {
    static std::deque<std::string> kept;
    kept.push_back("text " + std::to_string(i));
    return kept.back();
  }
};
template <>
struct Value<at::ScalarType> {
  static at::ScalarType get(int i) {
    return i % 2 == 0 ? at::kDouble : at::kShort;
  }
};
template <>
struct Value<at::Layout> {
  static at::Layout get(int i) {
    return i % 2 == 0 ? at::kSparse : at::kStrided;
  }
};
template <>
struct Value<at::MemoryFormat> {
  static at::MemoryFormat get(int i) {
    return i % 2 == 0 ? at::MemoryFormat::ChannelsLast
                      : at::MemoryFormat::Contiguous;
  }
};
template <>
struct Value<at::Device> {
  static at::Device get(int i) {
    return {at::kMeta, static_cast<at::DeviceIndex>(i)};
  }
};
template <>
struct Value<at::Generator> {
  static at::Generator get(int i) {
    static std::vector<at::Generator> kept(200);
    return kept[i].defined() ? kept[i] : kept[i] = tensorless(i);
  }
  static at::Generator tensorless(int i);
};
template <>
struct Value<at::Storage> {
  static at::Storage get(int i) {
    return tensor(i).storage();
  }
};
template <>
struct Value<at::Stream> {
  static at::Stream get(int i) {
    return at::Stream(at::Stream::UNSAFE, at::Device(at::kCPU), i);
  }
};
template <>
struct Value<at::TensorOptions> {
  static at::TensorOptions get(int i) {
    if (given == Given::required) {
      return {};
    }
    if (given == Given::format) {
      return at::TensorOptions().memory_format(
          at::MemoryFormat::ChannelsLast3d);
    }
    return at::TensorOptions()
        .dtype(Value<at::ScalarType>::get(i))
        .layout(Value<at::Layout>::get(i + 1))
        .device(Value<at::Device>::get(i + 2))
        .pinned_memory(true);
  }
};
template <>
struct Value<c10::DispatchKeySet> {
  static c10::DispatchKeySet get(int) {
    return c10::DispatchKeySet(KEY);
  }
};

// The same as an argument of type T.
template <class T>
T pass(int i) {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (!std::is_reference_v<T> || std::is_same_v<Plain, at::Tensor>) {
    return Value<Plain>::get(i);
  } else {
    static std::deque<Plain> kept;
    kept.push_back(Value<Plain>::get(i));
    return kept.back();
  }
}

using Call = std::function<void()>;
// Makes both calls in each way, and remembers the name if they don't arrive
// alike.
void compare(const char* name, const Call& ours, const Call& theirs);
void ambiguous();

// Any function, without its type: fewer templates.
using Function = void (*)();

template <class R, class... A, std::size_t... I>
void invoke(Function function, std::index_sequence<I...>) {
  reinterpret_cast<R (*)(A...)>(function)(pass<A>(I)...);
}

template <class R, class... A>
void invoke(Function function) {
  invoke<R, A...>(function, std::index_sequence_for<A...>());
}

void compareFunctions(
    const char* name,
    void (*invoke)(Function),
    Function ours,
    Function theirs);

template <class R, class... A>
void compare(const char* name, R (*ours)(A...), R (*theirs)(A...)) {
  compareFunctions(
      name,
      &invoke<R, A...>,
      reinterpret_cast<Function>(ours),
      reinterpret_cast<Function>(theirs));
}

template <class Ours, class Theirs, class R, class... A, std::size_t... I>
void compareMethods(
    const char* name,
    const Ours& our,
    R (Ours::*ours)(A...) const,
    const Theirs& their,
    R (Theirs::*theirs)(A...) const,
    std::index_sequence<I...>) {
  compare(
      name,
      [&] { (our.*ours)(pass<A>(I + 1)...); },
      [&] { (their.*theirs)(pass<A>(I + 1)...); });
}

template <class Ours, class Theirs, class R, class... A>
void compare(
    const char* name,
    const Ours& our,
    R (Ours::*ours)(A...) const,
    const Theirs& their,
    R (Theirs::*theirs)(A...) const) {
  compareMethods(
      name,
      our,
      ours,
      their,
      theirs,
      std::index_sequence_for<A...>());
}

// Calls that leave arguments out. Some cannot be made, as two overloads would
// do: with neither of the two then.
template <class... A, class Ours, class Theirs, std::size_t... I>
void compareShort(
    const char* name,
    int first,
    const Ours& ours,
    const Theirs& theirs,
    std::index_sequence<I...>) {
  constexpr bool is_call = std::is_invocable_v<Ours, A...>;
  static_assert(is_call == std::is_invocable_v<Theirs, A...>);
  if constexpr (is_call) {
    compare(
        name,
        [&] { ours(pass<A>(static_cast<int>(I) + first)...); },
        [&] { theirs(pass<A>(static_cast<int>(I) + first)...); });
  } else {
    ambiguous();
  }
}

template <class... A, class Ours, class Theirs>
void compareShort(
    const char* name,
    int first,
    const Ours& ours,
    const Theirs& theirs) {
  compareShort<A...>(
      name,
      first,
      ours,
      theirs,
      std::index_sequence_for<A...>());
}

} // namespace record

// A function, overloaded and with defaults, as something to be called.
#define FUNCTION(NAME)                                                       \
  [&](auto&&... a) -> decltype(void(NAME(static_cast<decltype(a)>(a)...))) { \
    NAME(static_cast<decltype(a)>(a)...);                                    \
  }
