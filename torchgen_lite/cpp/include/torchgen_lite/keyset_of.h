// How an argument takes part in dispatch.
//
//   template <>
//   struct torchgen_lite::KeysetOf<MyTensor> {
//     static DispatchKeySet get(const MyTensor& tensor) { return tensor.keys; }
//   };
//
// makes a type a tensor type. Then std::optional<MyTensor>, lists of either
// (std::vector, std::array, Span, anything with begin() and end()) and an
// optional list dispatch as well. Other types contribute no keys.
//
// A type whose values dispatch only in typed calls, like c10's Generator, says
// `static constexpr bool boxed = false;`.
#pragma once

#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <torchgen_lite/dispatch_key_set.h>

namespace torchgen_lite {

template <class T, class = void>
struct KeysetOf {};

namespace detail {

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T, class = void>
struct IsTensor : std::false_type {};
template <class T>
struct IsTensor<
    T,
    std::void_t<decltype(KeysetOf<T>::get(std::declval<const T&>()))>>
    : std::true_type {};

template <class T, class = void>
struct IsBoxedTensor : IsTensor<T> {};
template <class T>
struct IsBoxedTensor<T, std::void_t<decltype(KeysetOf<T>::boxed)>>
    : std::bool_constant<IsTensor<T>::value && KeysetOf<T>::boxed> {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Element = T;
};

template <class T, class = void>
struct IsRange : std::false_type {};
template <class T>
struct IsRange<
    T,
    std::void_t<
        decltype(*std::begin(std::declval<const T&>())),
        decltype(std::end(std::declval<const T&>()))>> : std::true_type {
  using Element = Bare<decltype(*std::begin(std::declval<const T&>()))>;
};

// Whether values of a type contribute keys. A tensor that is itself a range (of
// its elements) is a tensor.
template <class T>
constexpr bool dispatches() {
  if constexpr (IsTensor<T>::value) {
    return true;
  } else if constexpr (IsOptional<T>::value) {
    return dispatches<Bare<typename IsOptional<T>::Element>>();
  } else if constexpr (IsRange<T>::value) {
    // A range of itself (std::filesystem::path) is not a list.
    if constexpr (!std::is_same_v<typename IsRange<T>::Element, T>) {
      return dispatches<typename IsRange<T>::Element>();
    }
  }
  return false;
}

template <class T>
TORCHGEN_LITE_ALWAYS_INLINE std::uint64_t bitsOfArgument(const T& value) {
  if constexpr (!dispatches<T>()) {
    return 0;
  } else if constexpr (IsTensor<T>::value) {
    return KeysetOf<T>::get(value).raw_repr();
  } else if constexpr (IsOptional<T>::value) {
    return value.has_value() ? bitsOfArgument(*value) : 0;
  } else {
    std::uint64_t bits = 0;
    for (const auto& element : value) {
      bits |= bitsOfArgument(element);
    }
    return bits;
  }
}

// The union of the keysets of a call's arguments.
template <class... Args>
TORCHGEN_LITE_ALWAYS_INLINE std::uint64_t bitsOfArguments(
    const Args&... arguments) {
  return (std::uint64_t{0} | ... | bitsOfArgument(arguments));
}

} // namespace detail
} // namespace torchgen_lite
