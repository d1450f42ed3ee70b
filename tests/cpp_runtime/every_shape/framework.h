// A tensor is a number and its keys.
#pragma once

#include <memory>

#include <torchgen_lite/keyset_of.h>

namespace fw {
enum class Device { CPU };
enum class Dtype { Float, Half };
enum class Layout { Sparse, Strided };
struct Generator {
  int seed;
};
struct Storage {
  int size;
};
struct Stream {
  int id;
};
} // namespace fw

#include <shapes/methods.h>

namespace fw {
struct Tensor : shapes::TensorMethods<Tensor> {
  Tensor(int64_t number) : value(number) {}

  int64_t value;
  torchgen_lite::DispatchKeySet keys{torchgen_lite::DispatchKey::CPU};
};
} // namespace fw

template <>
struct torchgen_lite::KeysetOf<fw::Tensor> {
  static DispatchKeySet get(const fw::Tensor& tensor) {
    return tensor.keys;
  }
};

#include <shapes/operators.h>
