#include "kernels.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <vector>

namespace torch_classes {

Table::Table(const at::Tensor& keys, const at::Tensor& values) {
  TORCH_CHECK(
      keys.dim() == 1 && keys.sizes() == values.sizes() && keys.numel() > 0,
      "a table takes a list of keys and a value for each");
  const at::Tensor order = keys.argsort();
  this->keys = keys.index_select(0, order);
  this->values = values.index_select(0, order);
}

at::Tensor Kernels::look_up(
    const c10::intrusive_ptr<Table>& table,
    const at::Tensor& keys,
    double missing) {
  const int64_t last = table->keys.numel() - 1;
  const at::Tensor places = at::searchsorted(table->keys, keys).clamp_max(last);
  const at::Tensor is_there = table->keys.take(places) == keys;
  return at::where(is_there, table->values.take(places), missing);
}

c10::intrusive_ptr<Table> Kernels::merge(
    at::ArrayRef<c10::intrusive_ptr<Table>> tables) {
  std::vector<at::Tensor> keys, values;
  for (const auto& table : tables) {
    keys.push_back(table->keys);
    values.push_back(table->values);
  }
  return c10::make_intrusive<Table>(at::cat(keys), at::cat(values));
}

// A class comes before the operators that take it, so this file is linked before register.cpp.
TORCH_LIBRARY_FRAGMENT(torch_classes, m) {
  m.class_<Table>("Table").def(
      torch::init<const at::Tensor&, const at::Tensor&>());
}

} // namespace torch_classes

#include <torch_classes/verify_kernels.h>
