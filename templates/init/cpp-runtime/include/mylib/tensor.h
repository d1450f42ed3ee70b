// The tensor, and which dispatch keys it has.
#pragma once

#include <cstddef>
#include <vector>

#include <torchgen_lite/keyset_of.h>

namespace mylib {

// Numbers in a row; on Meta their count alone.
struct Tensor {
  std::vector<double> data;
  std::size_t size = 0;
  bool is_meta = false;
};

} // namespace mylib

// What the dispatcher asks of a tensor.
template <>
struct torchgen_lite::KeysetOf<mylib::Tensor> {
  static DispatchKeySet get(const mylib::Tensor& tensor) noexcept {
    return tensor.is_meta
        ? DispatchKeySet{DispatchKey::Meta, DispatchKey::AutogradMeta}
        : DispatchKeySet{DispatchKey::CPU, DispatchKey::AutogradCPU};
  }
};
