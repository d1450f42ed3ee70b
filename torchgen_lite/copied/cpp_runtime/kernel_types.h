#pragma once

#include "kernel_numbers.h"

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// How arguments and results are compared. A kernel may have other numbers than its
// schema, a list in place of a view, and a pair in place of a tuple, which are
// converted in calls (`kernel_numbers.h`); all other types are the same.
//
// The numbers of a value; void if it has none.
template <class Value, class = void>
struct numbers {
  using type = void;
};

template <class Value>
struct numbers<Value, std::enable_if_t<is_number<Value>>> {
  using type = wide<Value>;
};

template <class Value>
struct numbers<Value, std::enable_if_t<view<Value>::is_one>> {
  using type = std::vector<wide<typename view<Value>::element>>;
};

template <class Element>
struct numbers<std::vector<Element>, std::enable_if_t<is_number<Element>>> {
  using type = std::vector<wide<Element>>;
};

template <class Element>
struct numbers<
    std::optional<Element>,
    std::enable_if_t<!std::is_void_v<typename numbers<Element>::type>>> {
  using type = std::optional<typename numbers<Element>::type>;
};

template <class Type>
struct type_meant {
  using value = typename numbers<std::decay_t<Type>>::type;
  static constexpr bool is_written = std::is_lvalue_reference_v<Type> &&
      !std::is_const_v<std::remove_reference_t<Type>>;
  using type =
      std::conditional_t<std::is_void_v<value> || is_written, Type, value>;
};

template <class Type>
using meant = typename type_meant<Type>::type;

template <class... Elements>
struct type_meant<std::tuple<Elements...>> {
  using type = std::tuple<meant<Elements>...>;
};

template <class First, class Second>
struct type_meant<std::pair<First, Second>> {
  using type = std::tuple<meant<First>, meant<Second>>;
};

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
