#pragma once

#include <ATen/ATen.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <c10/core/DispatchKeySet.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::from_out {

// A tensor of the same kind without memory. Python numbers, which have lower
// priority in type promotion, are CPU tensors whatever the device is.
inline at::Tensor to_meta(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    return tensor;
  }
  return at::empty_strided_symint(
      tensor.sym_sizes(),
      tensor.sym_strides(),
      tensor.options().device(at::kMeta));
}

inline std::optional<at::Tensor> to_meta(
    const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional<at::Tensor>(to_meta(*tensor)) : std::nullopt;
}

inline std::vector<at::Tensor> to_meta(const at::ITensorListRef& tensors) {
  std::vector<at::Tensor> metas;
  for (const auto& tensor : tensors) {
    metas.push_back(to_meta(tensor));
  }
  return metas;
}

inline std::vector<at::Tensor> to_meta(at::TensorList tensors) {
  return to_meta(at::ITensorListRef(tensors));
}

inline c10::List<std::optional<at::Tensor>> to_meta(
    const c10::List<std::optional<at::Tensor>>& tensors) {
  c10::List<std::optional<at::Tensor>> metas;
  for (const std::optional<at::Tensor> tensor : tensors) {
    metas.push_back(to_meta(tensor));
  }
  return metas;
}

template <class Argument>
Argument to_meta(Argument argument) {
  return argument;
}

// What PyTorch's Meta kernel says about the result: its shape and dtype, or that
// it is undefined.
template <class Operator, class... Arguments>
auto on_meta(const Arguments&... arguments) {
  auto metas = std::make_tuple(to_meta(arguments)...);
  return std::apply(
      [](auto&... given) {
        const c10::DispatchKeySet keys(c10::DispatchKey::Meta);
        auto result = Operator::redispatch(keys, given...);
        return result;
      },
      metas);
}

// A result for a kernel to write to.
inline at::Tensor make(const at::Tensor& meta, const at::Device& device) {
  return at::empty_strided_symint(
      meta.sym_sizes(),
      meta.sym_strides(),
      meta.options().device(device));
}

// The device of the first tensor that is on one of these.
inline void find(
    std::optional<at::Device>& found,
    at::DeviceType type,
    const at::Tensor& tensor) {
  if (!found && tensor.defined() && tensor.device().type() == type) {
    found = tensor.device();
  }
}

inline void find(
    std::optional<at::Device>& found,
    at::DeviceType type,
    const at::ITensorListRef& tensors) {
  for (const auto& tensor : tensors) {
    find(found, type, tensor);
  }
}

template <class... Tensors>
at::Device device(at::DeviceType type, const Tensors&... tensors) {
  std::optional<at::Device> found;
  (find(found, type, tensors), ...);
  return found.value_or(at::Device(type));
}

} // namespace TORCHGEN_LITE_NAMESPACE::from_out

#undef TORCHGEN_LITE_NAMESPACE
