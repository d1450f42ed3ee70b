#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

// What conditions of kernels calculate, with the results that Python has.
namespace TORCHGEN_LITE_NAMESPACE::selection {

// Rounded down.
inline std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  if (by == 0) {
    throw std::domain_error("division by zero in the condition of a kernel");
  }
  const std::int64_t quotient = value / by;
  const bool is_rounded_up = value % by != 0 && (value < 0) != (by < 0);
  return is_rounded_up ? quotient - 1 : quotient;
}

inline std::int64_t remainder(std::int64_t value, std::int64_t by) {
  return value - floor_div(value, by) * by;
}

inline double divide(double value, double by) {
  if (by == 0) {
    throw std::domain_error("division by zero in the condition of a kernel");
  }
  return value / by;
}

inline std::int64_t max(std::int64_t left, std::int64_t right) {
  return std::max(left, right);
}

inline std::int64_t min(std::int64_t left, std::int64_t right) {
  return std::min(left, right);
}

// An index counts from the end if it is negative.
inline std::int64_t place(std::int64_t index, std::int64_t count) {
  if (index < -count || index >= count) {
    throw std::out_of_range(
        "the condition of a kernel asks for item " + std::to_string(index) +
        " of " + std::to_string(count));
  }
  return index < 0 ? index + count : index;
}

template <class List>
auto item(const List& list, std::int64_t index) {
  const auto count = static_cast<std::int64_t>(list.size());
  return list[static_cast<std::size_t>(place(index, count))];
}

template <class Left, class Right>
bool equal(const Left& left, const Right& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

// A value in the words of Python. Headers of tensors say more of these.
template <class Value, class = void>
struct Description {
  static std::string of(const Value&) {
    return "?";
  }
};

template <class Value>
std::string described(const Value& value) {
  return Description<Value>::of(value);
}

template <>
struct Description<bool> {
  static std::string of(bool value) {
    return value ? "True" : "False";
  }
};

template <class Number>
struct Description<Number, std::enable_if_t<std::is_arithmetic_v<Number>>> {
  static std::string of(Number value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }
};

template <class Value>
struct Description<std::optional<Value>> {
  static std::string of(const std::optional<Value>& value) {
    return value.has_value() ? described(*value) : "None";
  }
};

template <class Text>
struct Description<
    Text,
    std::enable_if_t<std::is_convertible_v<const Text&, std::string_view>>> {
  static std::string of(std::string_view text) {
    return "'" + std::string(text) + "'";
  }
};

template <class List>
struct Description<
    List,
    std::enable_if_t<
        !std::is_convertible_v<const List&, std::string_view> &&
        !std::is_void_v<decltype(*std::declval<const List&>().begin())>>> {
  static std::string of(const List& list) {
    std::string text = "[";
    const char* separator = "";
    for (const auto& item : list) {
      text += separator + described(item);
      separator = ", ";
    }
    return text + "]";
  }
};

// The sizes of a tensor, of which `size` gives one.
template <class Size>
std::vector<std::int64_t> sizes(std::int64_t count, Size size) {
  std::vector<std::int64_t> every;
  for (std::int64_t place = 0; place < count; ++place) {
    every.push_back(size(place));
  }
  return every;
}

// What is said of a call that no kernel takes, by the names of its arguments.
template <class... Values>
std::string uncovered(
    const char* place,
    std::initializer_list<const char*> names,
    const Values&... values) {
  std::string text = std::string(place) + ": no kernel takes ";
  const auto* name = names.begin();
  const auto add = [&](const std::string& value) {
    text += name == names.begin() ? "" : ", ";
    text += std::string(*name++) + "=" + value;
  };
  (add(described(values)), ...);
  return text;
}

} // namespace TORCHGEN_LITE_NAMESPACE::selection

#undef TORCHGEN_LITE_NAMESPACE
