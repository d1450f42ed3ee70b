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
#include <stdexcept>
#include <string>
#include <string_view>
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
inline constexpr bool is_integer = std::is_integral_v<Type> &&
    !std::is_same_v<Type, bool> && !is_character<Type> &&
    // `void` is asked about, too, and has no size.
    sizeof(std::conditional_t<std::is_integral_v<Type>, Type, int64_t>) <=
        sizeof(int64_t);

template <class Type>
inline constexpr bool is_number =
    is_integer<Type> || std::is_floating_point_v<Type>;

template <class Type, class = void>
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

// Numbers that something else owns: a class like `std::span`.
template <class Type, class = void>
struct view {
  static constexpr bool is_one = false;
};

template <class Type>
struct view<Type, std::void_t<typename Type::value_type>> {
  using element = std::remove_cv_t<typename Type::value_type>;
  static constexpr bool is_one = std::conjunction_v<
      std::bool_constant<is_number<element>>,
      std::is_trivially_copyable<Type>,
      std::is_constructible<Type, const element*, std::size_t>>;
};

// Converted elements need an owner.
template <class Type>
struct widening<Type, std::enable_if_t<view<Type>::is_one>> {
  using element = typename view<Type>::element;
  using type = std::conditional_t<
      std::is_same_v<wide<element>, element>,
      Type,
      std::vector<wide<element>>>;
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

// What is wrong with a number, of an argument of this name.
inline std::string said(
    const out_of_range& number,
    const std::string& argument) {
  const std::string what =
      number.place < 0 ? "a result" : "argument '" + argument + "'";
  return what + " is " + number.value + ", which " + number.type +
      " cannot hold";
}

// Raises an error about a number, in a call of a kernel of which only the names of
// operator and arguments are known: `mylib::scale(self, s)`.
[[noreturn]] inline void refuse(
    std::string_view call,
    const out_of_range& number) {
  const std::size_t bracket = call.find('(');
  std::string_view argument = call.substr(bracket + 1);
  for (std::ptrdiff_t place = 0; place < number.place; ++place) {
    argument.remove_prefix(argument.find(", ") + 2);
  }
  argument = argument.substr(0, argument.find_first_of(",)"));
  throw std::invalid_argument(
      std::string(call.substr(0, bracket)) + ": " +
      said(number, std::string(argument)));
}

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

// From any list.
template <class To, class List>
struct conversion<std::vector<To>, List> {
  static std::vector<To> of(const List& values, std::ptrdiff_t place) {
    std::vector<To> found;
    found.reserve(values.size());
    for (const auto& value : values) {
      using From = std::decay_t<decltype(value)>;
      found.push_back(converted<To, From>(value, place));
    }
    return found;
  }
};

template <class Element>
struct conversion<std::vector<Element>, std::vector<Element>> {
  static std::vector<Element> of(
      std::vector<Element> values,
      std::ptrdiff_t /*place*/) {
    return values;
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

// What a converted value is while a kernel has it: the numbers of a view need an
// owner.
template <class Type, class = void>
struct holding {
  using type = Type;
};

template <class Type>
struct holding<Type, std::enable_if_t<view<Type>::is_one>> {
  using type = std::vector<typename view<Type>::element>;
};

template <class Element>
struct holding<std::optional<Element>> {
  using type = std::optional<typename holding<Element>::type>;
};

// What is passed on to a kernel: the argument itself, or what it is converted to.
template <class Argument, class Given>
decltype(auto) passed(
    std::remove_reference_t<Given>& given,
    std::ptrdiff_t place) {
  if constexpr (std::is_same_v<Argument, Given>) {
    return std::forward<Given>(given);
  } else {
    using To = typename holding<std::decay_t<Argument>>::type;
    return converted<To, std::decay_t<Given>>(
        std::forward<Given>(given),
        place);
  }
}

// A kernel that is called with other types, and throws `out_of_range`.
template <class Schema, class Kernel>
struct converting;

template <class Returned, class... Given, class Result, class... Arguments>
struct converting<Returned(Given...), Result (*)(Arguments...)> {
  template <auto kernel>
  static Returned call(Given... given) {
    return each<kernel>(
        std::index_sequence_for<Given...>(),
        std::forward<Given>(given)...);
  }

 private:
  template <auto kernel, std::size_t... I>
  static Returned each(std::index_sequence<I...> /*indices*/, Given... given) {
    if constexpr (std::is_same_v<Returned, Result>) {
      return kernel(passed<Arguments, Given>(given, I)...);
    } else {
      return converted<Returned, std::decay_t<Result>>(
          kernel(passed<Arguments, Given>(given, I)...),
          -1);
    }
  }
};

template <class Schema, class Result, class... Arguments>
struct converting<Schema, Result (*)(Arguments...) noexcept>
    : converting<Schema, Result (*)(Arguments...)> {};

// The type of a kernel, with the numbers of a schema.
template <class Kernel>
struct widened_type;

template <class Result, class... Arguments>
struct widened_type<Result (*)(Arguments...)> {
  using type = wide<Result>(wide<Arguments>...);
  static constexpr bool is_same = std::is_same_v<type, Result(Arguments...)>;
};

template <class Result, class... Arguments>
struct widened_type<Result (*)(Arguments...) noexcept>
    : widened_type<Result (*)(Arguments...)> {};

// Whether a kernel has no other numbers than a schema.
template <auto kernel>
inline constexpr bool has_wide_numbers =
    widened_type<std::remove_const_t<decltype(kernel)>>::is_same;

// The kernel with the numbers of a schema, which throws `out_of_range`; the kernel
// itself if it has no others.
template <auto kernel>
constexpr auto widened() {
  using type = std::remove_const_t<decltype(kernel)>;
  if constexpr (has_wide_numbers<kernel>) {
    return kernel;
  } else {
    return &converting<typename widened_type<type>::type, type>::template call<
        kernel>;
  }
}

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE

// What registers a kernel of the author's headers. An error about a number names
// the operator and an argument, as `words` have them: "mylib::scale(self, s)".
#define TORCHGEN_LITE_KERNEL(library, words, ...)              \
  ([] {                                                        \
    struct named {                                             \
      static const char* call() {                              \
        return words;                                          \
      }                                                        \
    };                                                         \
    return ::library::proof::registered<named, __VA_ARGS__>(); \
  }())
