#pragma once

#include "selection_numbers.h"

#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <string>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::selection {

inline bool is_aligned(const torch::stable::Tensor& tensor, std::int64_t by) {
  const auto address = reinterpret_cast<std::intptr_t>(tensor.data_ptr());
  return remainder(static_cast<std::int64_t>(address), by) == 0;
}

inline bool is_one_of(
    const torch::stable::Tensor& tensor,
    std::initializer_list<torch::headeronly::ScalarType> dtypes) {
  const auto dtype = tensor.scalar_type();
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

inline bool is_floating_point(const torch::stable::Tensor& tensor) {
  using torch::headeronly::ScalarType;
  return is_one_of(
      tensor,
      {ScalarType::Half,
       ScalarType::BFloat16,
       ScalarType::Float,
       ScalarType::Double,
       ScalarType::Float8_e5m2,
       ScalarType::Float8_e5m2fnuz,
       ScalarType::Float8_e4m3fn,
       ScalarType::Float8_e4m3fnuz,
       ScalarType::Float8_e8m0fnu,
       ScalarType::Float4_e2m1fn_x2});
}

inline bool is_complex(const torch::stable::Tensor& tensor) {
  using torch::headeronly::ScalarType;
  return is_one_of(
      tensor,
      {ScalarType::ComplexHalf,
       ScalarType::ComplexFloat,
       ScalarType::ComplexDouble});
}

template <>
struct Description<torch::headeronly::ScalarType> {
  static std::string of(torch::headeronly::ScalarType dtype) {
    std::string text = torch::headeronly::toString(dtype);
    for (char& letter : text) {
      letter = static_cast<char>(std::tolower(letter));
    }
    return text;
  }
};

// `half[2, 3]`.
template <>
struct Description<torch::stable::Tensor> {
  static std::string of(const torch::stable::Tensor& tensor) {
    if (!tensor.defined()) {
      return "None";
    }
    return described(tensor.scalar_type()) + described(tensor.sizes());
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::selection

#undef TORCHGEN_LITE_NAMESPACE
