#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

namespace torch_classes {

// Keys in ascending order, and the value of each.
struct Table : torch::CustomClassHolder {
  Table(const at::Tensor& keys, const at::Tensor& values);

  at::Tensor keys;
  at::Tensor values;
};

// The kernels are static members of a class.
struct Kernels {
  static at::Tensor look_up(
      const c10::intrusive_ptr<Table>& table,
      const at::Tensor& keys,
      double missing);
  static c10::intrusive_ptr<Table> merge(
      at::ArrayRef<c10::intrusive_ptr<Table>> tables);
};

} // namespace torch_classes
