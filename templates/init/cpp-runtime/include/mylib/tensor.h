// The tensor and its dispatch keys.
#pragma once

#include <cstddef>
#include <vector>

#include <torchgen_lite/keyset_of.h>

namespace mylib {

// A one-dimensional tensor; on Meta it has only a size.
struct Tensor {
  std::vector<double> data;
  std::size_t size = 0;
  bool is_meta = false;
};

} // namespace mylib

// What the dispatcher needs to know about a tensor.
template <>
struct torchgen_lite::KeysetOf<mylib::Tensor> {
  static DispatchKeySet get(const mylib::Tensor& tensor) noexcept {
    return tensor.is_meta
        ? DispatchKeySet{DispatchKey::Meta, DispatchKey::AutogradMeta}
        : DispatchKeySet{DispatchKey::CPU, DispatchKey::AutogradCPU};
  }
};
