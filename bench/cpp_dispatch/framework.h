// The types of PyTorch's schemas, for operators that are only compiled.
#pragma once

#include <cstdint>
#include <memory>

#include <torchgen_lite/keyset_of.h>

namespace framework {

enum class ScalarType : std::uint8_t { Long };
enum class Layout : std::uint8_t { Strided };
enum class QScheme : std::uint8_t { PerTensorAffine };
enum class MemoryFormat : std::uint8_t { Contiguous };

struct Device {
  std::int64_t index;
};
struct Generator {
  std::shared_ptr<int> impl;
};
struct Storage {
  std::shared_ptr<int> impl;
};
struct Stream {
  std::int64_t id;
};
struct Scalar {
  Scalar(double value) : value(value) {}
  double value;
};
struct TensorImpl {
  std::uint64_t keys;
};
struct Tensor {
  std::shared_ptr<TensorImpl> impl;
};

} // namespace framework

template <>
struct torchgen_lite::KeysetOf<framework::Tensor> {
  static DispatchKeySet get(const framework::Tensor& tensor) noexcept {
    return DispatchKeySet::from_raw_repr(tensor.impl->keys);
  }
};
