#pragma once

// Messages about a kernel show its schema, and not this file.
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// A schema has one type of integers and one of floating point numbers, `int64_t` and
// `double`. A kernel may have others, which are converted in calls; a value that
// the other type cannot hold is an error. `wide` is the type that a call has in
// place of a kernel's: the same if there is no such number in it.
//
// A character is no number, and neither is a bool.
template <class Type>
inline constexpr bool is_character =
    std::is_same_v<Type, char> || std::is_same_v<Type, wchar_t> ||
#ifdef __cpp_char8_t
    std::is_same_v<Type, char8_t> ||
#endif
    std::is_same_v<Type, char16_t> || std::is_same_v<Type, char32_t>;

template <class Type>
inline constexpr bool is_integer =
    std::is_integral_v<Type> && !std::is_same_v<Type, bool> &&
    !is_character<Type> && sizeof(Type) <= sizeof(int64_t);

template <class Type>
struct widening {
  using type = std::conditional_t<
      is_integer<Type>,
      int64_t,
      std::conditional_t<std::is_floating_point_v<Type>, double, Type>>;
};

template <class Type>
using wide = typename widening<Type>::type;

// What is taken by a reference that a converted value may be bound to.
template <class Type>
struct widening<const Type&> {
  using type = std::conditional_t<
      std::is_same_v<wide<Type>, Type>,
      const Type&,
      wide<Type>>;
};

template <class Type>
struct widening<Type&&> {
  using type =
      std::conditional_t<std::is_same_v<wide<Type>, Type>, Type&&, wide<Type>>;
};

template <class Element>
struct widening<std::optional<Element>> {
  using type = std::optional<wide<Element>>;
};

template <class Element>
struct widening<std::vector<Element>> {
  using type = std::vector<wide<Element>>;
};

template <class Element, std::size_t size>
struct widening<std::array<Element, size>> {
  using type = std::array<wide<Element>, size>;
};

template <class... Elements>
struct widening<std::tuple<Elements...>> {
  using type = std::tuple<wide<Elements>...>;
};

// Schemas have no pairs: a result of two parts is a tuple.
template <class First, class Second>
struct widening<std::pair<First, Second>> {
  using type = std::tuple<wide<First>, wide<Second>>;
};

// A number that the type which it is converted to cannot hold: its place among the
// arguments, or -1 for a result, and both in words.
struct out_of_range {
  std::ptrdiff_t place;
  std::string value;
  std::string type;
};

// What a type of numbers is called: `uint8_t`, `float`.
template <class Type>
std::string name_of_number() {
  if constexpr (std::is_same_v<Type, float>) {
    return "float";
  } else if constexpr (std::is_floating_point_v<Type>) {
    return "double";
  } else {
    return (std::is_signed_v<Type> ? "int" : "uint") +
        std::to_string(8 * sizeof(Type)) + "_t";
  }
}

template <class Type>
std::string text_of_number(Type value) {
  if constexpr (std::is_floating_point_v<Type>) {
    std::array<char, 32> text{};
    std::snprintf(
        text.data(),
        text.size(),
        "%.17g",
        static_cast<double>(value));
    return text.data();
  } else {
    return std::to_string(value);
  }
}

// Whether a conversion keeps an integer, and leaves a finite number finite.
template <class To, class From>
constexpr bool is_held(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    using Limits = std::numeric_limits<From>;
    if constexpr (
        std::numeric_limits<To>::max_exponent >= Limits::max_exponent) {
      return true;
    } else {
      // The first number that is rounded to infinity is between the largest one
      // of the type and the next power of two.
      const From epsilon = std::numeric_limits<To>::epsilon();
      const From power =
          static_cast<From>(std::numeric_limits<To>::max()) / (2 - epsilon);
      const From first = power * (2 - epsilon / 2);
      const From size = value < 0 ? -value : value;
      return !(size >= first && size <= Limits::max());
    }
  } else {
    const To converted = static_cast<To>(value);
    return static_cast<From>(converted) == value &&
        (converted < To(0)) == (value < From(0));
  }
}

// A value of another type with the same meaning.
template <class To, class From>
struct conversion {
  static To of(From value, std::ptrdiff_t place) {
    if (!is_held<To>(value)) {
      throw out_of_range{place, text_of_number(value), name_of_number<To>()};
    }
    return static_cast<To>(value);
  }
};

template <class Type>
struct conversion<Type, Type> {
  static Type of(Type value, std::ptrdiff_t /*place*/) {
    return std::forward<Type>(value);
  }
};

template <class To, class From>
To converted(From value, std::ptrdiff_t place) {
  return conversion<To, From>::of(std::forward<From>(value), place);
}

template <class To, class From>
struct conversion<std::optional<To>, std::optional<From>> {
  static std::optional<To> of(std::optional<From> value, std::ptrdiff_t place) {
    if (!value) {
      return std::nullopt;
    }
    return converted<To, From>(*std::move(value), place);
  }
};

template <class To, class From>
struct conversion<std::vector<To>, std::vector<From>> {
  static std::vector<To> of(
      const std::vector<From>& values,
      std::ptrdiff_t place) {
    std::vector<To> found;
    found.reserve(values.size());
    for (const auto& value : values) {
      found.push_back(converted<To, From>(value, place));
    }
    return found;
  }
};

template <class To, class From, std::size_t size>
struct conversion<std::array<To, size>, std::array<From, size>> {
  static std::array<To, size> of(
      const std::array<From, size>& values,
      std::ptrdiff_t place) {
    std::array<To, size> found;
    for (std::size_t at = 0; at < size; ++at) {
      found[at] = converted<To, From>(values[at], place);
    }
    return found;
  }
};

template <class... To, class... From>
struct conversion<std::tuple<To...>, std::tuple<From...>> {
  static std::tuple<To...> of(
      std::tuple<From...> values,
      std::ptrdiff_t place) {
    return each(std::move(values), place, std::index_sequence_for<To...>());
  }

 private:
  template <std::size_t... I>
  static std::tuple<To...> each(
      std::tuple<From...> values,
      std::ptrdiff_t place,
      std::index_sequence<I...> /*indices*/) {
    return {converted<To, From>(std::get<I>(std::move(values)), place)...};
  }
};

template <class First, class Second, class OtherFirst, class OtherSecond>
struct conversion<
    std::tuple<First, Second>,
    std::pair<OtherFirst, OtherSecond>> {
  static std::tuple<First, Second> of(
      std::pair<OtherFirst, OtherSecond> values,
      std::ptrdiff_t place) {
    return {
        converted<First, OtherFirst>(std::move(values.first), place),
        converted<Second, OtherSecond>(std::move(values.second), place)};
  }
};

// What is passed on to a kernel: the argument itself, or what it is converted to.
template <class Argument, class Given>
decltype(auto) passed(Given&& given, std::ptrdiff_t place) {
  if constexpr (std::is_same_v<Argument, wide<Argument>>) {
    return std::forward<Given>(given);
  } else {
    using To = std::remove_cv_t<std::remove_reference_t<Argument>>;
    return converted<To, wide<To>>(std::forward<Given>(given), place);
  }
}

template <class Kernel>
struct kernel_type;

template <class Result, class... Arguments>
struct kernel_type<Result (*)(Arguments...)> {
  using wide_type = wide<Result>(wide<Arguments>...);
  static constexpr bool is_wide =
      std::is_same_v<wide_type, Result(Arguments...)>;

  template <auto kernel, std::size_t... I>
  static wide<Result> call(
      std::index_sequence<I...> /*indices*/,
      wide<Arguments>... arguments) {
    if constexpr (std::is_same_v<Result, wide<Result>>) {
      return kernel(
          passed<Arguments>(std::forward<wide<Arguments>>(arguments), I)...);
    } else {
      return converted<wide<Result>, Result>(
          kernel(
              passed<Arguments>(
                  std::forward<wide<Arguments>>(arguments),
                  I)...),
          -1);
    }
  }

  template <auto kernel>
  static wide<Result> widened(wide<Arguments>... arguments) {
    return call<kernel>(
        std::index_sequence_for<Arguments...>(),
        std::forward<wide<Arguments>>(arguments)...);
  }
};

template <class Result, class... Arguments>
struct kernel_type<Result (*)(Arguments...) noexcept>
    : kernel_type<Result (*)(Arguments...)> {};

// The kernel with the numbers of a schema, which throws `out_of_range`; the kernel
// itself if it has no others.
template <auto kernel>
constexpr auto widened() {
  using type = kernel_type<std::remove_const_t<decltype(kernel)>>;
  if constexpr (type::is_wide) {
    return kernel;
  } else {
    return &type::template widened<kernel>;
  }
}

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
