#pragma once

#include "version.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

// How libtorch holds a node: with std::shared_ptr before 2.13.
#if TORCHGEN_LITE_TORCH_VERSION >= 21300
template <typename T>
using NodePtr = c10::intrusive_ptr<T>;

template <typename T>
NodePtr<T> make_node() {
  return c10::make_intrusive<T>();
}
#else
template <typename T>
using NodePtr = std::shared_ptr<T>;

template <typename T>
NodePtr<T> make_node() {
  return NodePtr<T>(new T(), torch::autograd::deleteNode);
}
#endif

// What a formula saves of a tensor if it only makes zeros like it.
struct Zeros {
  std::vector<c10::SymInt> sizes;
  at::TensorOptions options;

  Zeros() = default;
  explicit Zeros(const at::Tensor& tensor)
      : sizes(tensor.sym_sizes().vec()), options(tensor.options()) {}

  at::Tensor zeros() const {
    return at::zeros_symint(sizes, options);
  }
};

// An undefined tensor stands for an absent one.
inline std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

// `a % b` of integers in a formula.
template <class Left, class Right>
auto remainder(const Left& a, const Right& b) {
  TORCH_CHECK(b != 0, "a formula computes a remainder of a division by zero");
  return a % b;
}

// An element of a list in a formula; a negative index counts from the end.
template <class List>
decltype(auto) item(const List& list, int64_t index) {
  const auto count = static_cast<int64_t>(list.size());
  index += index < 0 ? count : 0;
  TORCH_CHECK_INDEX(index >= 0 && index < count, "list index out of range");
  return list[index];
}

inline at::Tensor unpack(const SavedVariable& saved) {
  return saved.unpack();
}

inline variable_list unpack(const std::vector<SavedVariable>& saved) {
  variable_list tensors;
  tensors.reserve(saved.size());
  for (const auto& one : saved) {
    tensors.push_back(one.unpack());
  }
  return tensors;
}

inline c10::List<std::optional<at::Tensor>> unpack_optional(
    const std::vector<SavedVariable>& saved) {
  c10::List<std::optional<at::Tensor>> tensors;
  for (const auto& one : saved) {
    tensors.push_back(optional(one.unpack()));
  }
  return tensors;
}

inline void reset(SavedVariable& saved) {
  saved.reset_data();
}

inline void reset(std::vector<SavedVariable>& saved) {
  for (auto& one : saved) {
    one.reset_data();
  }
}

// Whether no gradient arrived, so that none is passed on.
inline bool is_nothing(const variable_list& grads) {
  return std::none_of(grads.begin(), grads.end(), [](const at::Tensor& grad) {
    return grad.defined();
  });
}

// Called by a formula whose gradient is not implemented.
inline at::Tensor not_implemented(const char* name, const char* reason = "") {
  const char* why = *reason ? ": " : "";
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "the derivative of ",
      name,
      " is not implemented",
      why,
      reason);
  return {};
}

// Zeros in place of gradients that did not arrive.
inline void materialize(
    const torch::autograd::Node& node,
    variable_list& grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    const auto& output = node.input_metadata(i);
    if (!grads[i].defined() && !output.was_default_constructed()) {
      grads[i] = output.zeros_like();
    }
  }
}

// Whether any gradient in a range is needed.
inline bool wanted(
    const torch::autograd::Node& node,
    size_t first,
    size_t count = 1) {
  for (size_t i = first; i < first + count; ++i) {
    if (node.task_should_compute_output(i)) {
      return true;
    }
  }
  return false;
}

// The gradients of a list of this many elements.
inline variable_list sized(std::vector<at::Tensor> grads, size_t count) {
  grads.resize(count);
  return grads;
}

inline void append(variable_list& all, at::Tensor grad) {
  all.push_back(std::move(grad));
}

inline void append(variable_list& all, variable_list grads) {
  for (auto& grad : grads) {
    all.push_back(std::move(grad));
  }
}

// All gradients in the order of the edges. The gradient of a real tensor is
// real; the engine reduces to the shape and converts to the dtype by itself.
template <class... Gradients>
variable_list gather(
    const torch::autograd::Node& node,
    Gradients&&... gradients) {
  variable_list all;
  (append(all, std::forward<Gradients>(gradients)), ...);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& edge = node.next_edge(i);
    if (all[i].defined() && all[i].is_complex() && edge.is_valid()) {
      const auto& input = edge.function->input_metadata(edge.input_nr);
      const auto dtype = c10::typeMetaToScalarType(input.dtype());
      all[i] = at::isComplexType(dtype) ? all[i] : at::real(all[i]);
    }
  }
  return all;
}

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
