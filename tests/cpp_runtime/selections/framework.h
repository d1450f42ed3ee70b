// A tensor without elements: what conditions ask, and its keys.
#pragma once

#include <cstdint>
#include <vector>

#include <torchgen_lite/keyset_of.h>

namespace fw {
enum class Dtype {
  half,
  bfloat16,
  float32,
  float64,
  float8_e5m2,
  int64,
  boolean,
  complex64
};

struct Tensor {
  Dtype dtype;
  std::vector<int64_t> sizes, strides;
  int64_t offset;
  bool needs_gradient;

  int64_t rank() const {
    return static_cast<int64_t>(sizes.size());
  }

  int64_t numel() const {
    int64_t count = 1;
    for (const auto size : sizes) {
      count *= size;
    }
    return count;
  }

  bool is_contiguous() const {
    int64_t expected = 1;
    for (auto place = sizes.size(); place-- > 0;) {
      if (sizes[place] != 1 && strides[place] != expected) {
        return numel() == 0;
      }
      expected *= sizes[place];
    }
    return true;
  }

  bool is_floating_point() const {
    return dtype <= Dtype::float8_e5m2;
  }

  bool is_complex() const {
    return dtype == Dtype::complex64;
  }

  bool requires_grad() const {
    return needs_gradient;
  }

  int64_t storage_offset() const {
    return offset;
  }
};

inline Dtype dtype_of(const Tensor& tensor) {
  return tensor.dtype;
}

// With places that are there: generated code says which.
inline int64_t size(const Tensor& tensor, int64_t place) {
  return tensor.sizes[static_cast<std::size_t>(place)];
}

inline int64_t stride(const Tensor& tensor, int64_t place) {
  return tensor.strides[static_cast<std::size_t>(place)];
}

inline const std::vector<int64_t>& shape(const Tensor& tensor) {
  return tensor.sizes;
}

inline const std::vector<int64_t>& strides(const Tensor& tensor) {
  return tensor.strides;
}

inline bool is_aligned(const Tensor& tensor, int64_t by) {
  constexpr int64_t itemsizes[] = {2, 2, 4, 8, 1, 8, 1, 8};
  const auto address =
      tensor.offset * itemsizes[static_cast<int>(tensor.dtype)];
  return tensor.numel() == 0 || address % by == 0;
}
} // namespace fw

template <>
struct torchgen_lite::KeysetOf<fw::Tensor> {
  static DispatchKeySet get(const fw::Tensor&) {
    return DispatchKeySet(DispatchKey::CPU);
  }
};
