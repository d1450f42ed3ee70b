#pragma once

#include "selection_numbers.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SymInt.h>
#include <c10/util/Exception.h>
#include <c10/util/OptionalArrayRef.h>

#include <cctype>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::selection {

// A size may be a symbol, which calculates as Python does.
inline c10::SymInt floor_div(const c10::SymInt& value, const c10::SymInt& by) {
  const auto number = value.maybe_as_int();
  const auto divisor = by.maybe_as_int();
  if (number && divisor) {
    return floor_div(*number, *divisor);
  }
  return value / by;
}

inline c10::SymInt remainder(const c10::SymInt& value, const c10::SymInt& by) {
  return value - floor_div(value, by) * by;
}

inline c10::SymInt max(const c10::SymInt& left, const c10::SymInt& right) {
  return left.max(right);
}

inline c10::SymInt min(const c10::SymInt& left, const c10::SymInt& right) {
  return left.min(right);
}

inline std::int64_t whole(std::int64_t value) {
  return value;
}

inline std::int64_t whole(const c10::SymInt& value) {
  return value.guard_int(__FILE__, __LINE__);
}

inline double real(double value) {
  return value;
}

inline double real(const c10::SymInt& value) {
  return static_cast<double>(whole(value));
}

// To c10::Scalar, a boolean equals no number.
template <class Number>
bool same(const c10::Scalar& value, Number number) {
  if constexpr (std::is_same_v<Number, bool>) {
    return same(value, static_cast<std::int64_t>(number));
  } else if (value.isBoolean()) {
    return static_cast<Number>(value.toBool()) == number;
  } else {
    return value.equal(number);
  }
}

inline bool is_aligned(const at::Tensor& tensor, std::int64_t by) {
  const auto address = reinterpret_cast<std::intptr_t>(tensor.const_data_ptr());
  return remainder(static_cast<std::int64_t>(address), by) == 0;
}

template <>
struct Description<c10::ScalarType> {
  static std::string of(c10::ScalarType dtype) {
    std::string text = c10::toString(dtype);
    for (char& letter : text) {
      letter = static_cast<char>(std::tolower(letter));
    }
    return text;
  }
};

// `half[2, 3]`.
template <>
struct Description<at::Tensor> {
  static std::string of(const at::Tensor& tensor) {
    if (!tensor.defined()) {
      return "None";
    }
    return described(tensor.scalar_type()) + described(tensor.sym_sizes());
  }
};

template <>
struct Description<c10::Scalar> {
  static std::string of(const c10::Scalar& value) {
    if (value.isBoolean()) {
      return described(value.toBool());
    }
    return value.isIntegral(/*includeBool=*/false) ? described(value.toLong())
        : value.isFloatingPoint()                  ? described(value.toDouble())
                                                   : "?";
  }
};

template <>
struct Description<c10::SymInt> {
  static std::string of(const c10::SymInt& value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }
};

template <class Item>
struct Description<c10::OptionalArrayRef<Item>> {
  static std::string of(const c10::OptionalArrayRef<Item>& list) {
    return list.has_value() ? described(*list) : "None";
  }
};

class Uncovered : public c10::NotImplementedError {
 public:
  explicit Uncovered(const std::string& text)
      : NotImplementedError({__func__, __FILE__, __LINE__}, text) {}
};

} // namespace TORCHGEN_LITE_NAMESPACE::selection

#undef TORCHGEN_LITE_NAMESPACE
