// Converts the arguments of a typed call to a stack and back. C++ types become
// these values:
//
//   bool; other integers and enumerations -> int; floating point -> float;
//   std::string, std::string_view, const char* -> string;
//   std::optional<T> -> None or T; contiguous ranges of T -> list;
//   everything else, and every `T&` -> object.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <torchgen_lite/span.h>
#include <torchgen_lite/value.h>

namespace torchgen_lite {
namespace detail {

template <class T, class = void>
struct IsContiguous : std::false_type {};
template <class T>
struct IsContiguous<T, std::void_t<decltype(std::declval<const T&>().data())>>
    : std::bool_constant<IsRange<T>::value && !IsTensor<T>::value> {};
// clang takes the `data()` that it hides for an error, and not for a missing one.
template <>
struct IsContiguous<std::vector<bool>> : std::false_type {};

template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string> ||
    std::is_same_v<T, std::string_view> || std::is_same_v<T, const char*>;
template <class T>
inline constexpr bool is_list = !is_text<T> &&
    (IsContiguous<T>::value || std::is_same_v<T, std::vector<bool>>);
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
inline constexpr bool is_object = !is_number<T> && !is_text<T> && !is_list<T> &&
    !IsOptional<T>::value && !std::is_same_v<T, Value>;

// The value of an argument that outlives it; its objects are borrowed.
template <class T>
Value boxBorrowed(const T& value) {
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Value(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return Value(static_cast<double>(value));
  } else if constexpr (is_number<T>) {
    return Value(static_cast<std::int64_t>(value));
  } else if constexpr (is_text<T>) {
    return Value(std::string(value));
  } else if constexpr (IsOptional<T>::value) {
    return value.has_value() ? boxBorrowed(*value) : Value();
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    std::vector<Value> list;
    for (const bool element : value) {
      list.emplace_back(element);
    }
    return Value(std::move(list));
  } else if constexpr (is_list<T>) {
    std::vector<Value> list;
    for (const auto& element : value) {
      list.push_back(boxBorrowed(element));
    }
    return Value(std::move(list));
  } else {
    return Value::borrow(value);
  }
}

// A value that owns its contents.
template <class T>
Value boxOwned(T value) {
  if constexpr (is_object<T>) {
    return Value::object(std::move(value));
  } else if constexpr (IsOptional<T>::value) {
    return value.has_value()
        ? boxOwned<Bare<decltype(*value)>>(*std::move(value))
        : Value();
  } else if constexpr (is_list<T> && !std::is_same_v<T, std::vector<bool>>) {
    std::vector<Value> list;
    for (auto& element : value) {
      // The elements of a view are const, so they are copied.
      list.push_back(boxOwned<Bare<decltype(element)>>(std::move(element)));
    }
    return Value(std::move(list));
  } else {
    return boxBorrowed(value);
  }
}

// An argument of declared type P.
template <class P>
Value boxArgument(std::remove_reference_t<P>& argument) {
  using T = Bare<P>;
  if constexpr (
      std::is_lvalue_reference_v<P> &&
      !std::is_const_v<std::remove_reference_t<P>>) {
    return Value::borrow(argument);
  } else if constexpr (!std::is_reference_v<P> && is_object<T>) {
    return Value::object<T>(std::move(argument));
  } else {
    return boxBorrowed<T>(argument);
  }
}

// std::vector<bool> has no bools to point to.
class BoolArray final {
 public:
  explicit BoolArray(const std::vector<Value>& values)
      : data_(std::make_unique<bool[]>(values.size())), size_(values.size()) {
    for (std::size_t i = 0; i < size_; ++i) {
      data_[i] = values[i].toBool();
    }
  }
  const bool* data() const {
    return data_.get();
  }
  std::size_t size() const {
    return size_;
  }

 private:
  std::unique_ptr<bool[]> data_;
  std::size_t size_;
};

// Holds the elements of T during a call, because views do not own theirs.
template <class T, class = void>
struct Elements {
  using Type = T;
};
// Span, std::span, or a user's own view: made from a pointer and a size.
template <class T>
struct Elements<
    T,
    std::enable_if_t<
        is_list<T> &&
        std::is_constructible_v<
            T,
            const typename IsRange<T>::Element*,
            std::size_t>>> {
  using Type = std::conditional_t<
      std::is_same_v<typename IsRange<T>::Element, bool>,
      BoolArray,
      std::vector<typename IsRange<T>::Element>>;
};
template <class T>
struct Elements<std::optional<T>> {
  using Type = std::optional<typename Elements<T>::Type>;
};

template <class T>
T unbox(const Value& value);

template <class T>
struct UnboxList {
  static_assert(
      sizeof(T) == 0,
      "lists of a call that can be boxed are std::vector, std::array or "
      "torchgen_lite::Span");
};
template <class T, class A>
struct UnboxList<std::vector<T, A>> {
  static std::vector<T, A> from(const std::vector<Value>& values) {
    std::vector<T, A> list;
    list.reserve(values.size());
    for (const Value& value : values) {
      list.push_back(unbox<T>(value));
    }
    return list;
  }
};
template <class T, std::size_t N>
struct UnboxList<std::array<T, N>> {
  static std::array<T, N> from(const std::vector<Value>& values) {
    if (values.size() != N) {
      throw Error(
          "expected a list of " + std::to_string(N) + ", not of " +
          std::to_string(values.size()));
    }
    std::array<T, N> list{};
    for (std::size_t i = 0; i < N; ++i) {
      list[i] = unbox<T>(values[i]);
    }
    return list;
  }
};

// The number as a T, which is an integer or an enumeration. Throws Error for one
// of which T would lose bits: -1 is a std::uint64_t, and no std::uint8_t.
template <class T>
T intOf(std::int64_t number) {
  const T converted = static_cast<T>(number);
  if (static_cast<std::int64_t>(converted) != number) {
    throw Error(
        std::to_string(number) + " is not in the range of " +
        std::string(typeName<T>()));
  }
  return converted;
}

// A copy of the contents. Throws Error if they have another type.
template <class T>
T unbox(const Value& value) {
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.toBool();
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.toDouble());
  } else if constexpr (is_number<T>) {
    return intOf<T>(value.toInt());
  } else if constexpr (std::is_same_v<T, const char*>) {
    return value.toStringRef().c_str();
  } else if constexpr (is_text<T>) {
    return T(value.toStringRef());
  } else if constexpr (std::is_same_v<T, BoolArray>) {
    return BoolArray(value.toList());
  } else if constexpr (IsOptional<T>::value) {
    using Element = typename IsOptional<T>::Element;
    return value.isNone() ? T() : T(unbox<Element>(value));
  } else if constexpr (is_list<T>) {
    return UnboxList<T>::from(value.toList());
  } else if constexpr (std::is_copy_constructible_v<T>) {
    return value.toObject<const T>();
  } else {
    return std::move(value.toObject<T>());
  }
}

// T over the elements that are held: T itself, or a view of them.
template <class T>
T viewOf(typename Elements<T>::Type& elements) {
  if constexpr (std::is_same_v<T, typename Elements<T>::Type>) {
    return std::move(elements);
  } else if constexpr (IsOptional<T>::value) {
    using Element = typename IsOptional<T>::Element;
    return elements.has_value() ? T(viewOf<Element>(*elements)) : T();
  } else {
    return T(elements.data(), elements.size());
  }
}

} // namespace detail
} // namespace torchgen_lite
