#pragma once

#include "version.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
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

template <typename T, class... Values>
NodePtr<T> new_node(Values&&... values) {
  return c10::make_intrusive<T>(std::forward<Values>(values)...);
}
#else
template <typename T>
using NodePtr = std::shared_ptr<T>;

template <typename T, class... Values>
NodePtr<T> new_node(Values&&... values) {
  return NodePtr<T>(
      new T(std::forward<Values>(values)...),
      torch::autograd::deleteNode);
}
#endif

// What a formula saves of a tensor if it only makes zeros like it: the tensor
// itself if it is in a batch of torch.vmap, of a subclass, or has no strides, as
// zeros of its kind are not made from its sizes.
struct Zeros {
  std::vector<c10::SymInt> sizes;
  at::TensorOptions options;
  at::Tensor kept;

  static constexpr c10::DispatchKeySet of_their_kind{
      c10::DispatchKey::FuncTorchBatched,
      c10::DispatchKey::FuncTorchGradWrapper,
      c10::DispatchKey::Python,
      c10::DispatchKey::Sparse,
      c10::DispatchKey::SparseCsr,
      c10::DispatchKey::NestedTensor};

  Zeros() = default;
  explicit Zeros(const at::Tensor& tensor)
      : sizes(tensor.sym_sizes().vec()), options(tensor.options()) {
    const auto others = tensor.key_set() & of_their_kind;
    if (!others.empty()) {
      kept = tensor.detach();
    }
  }

  at::Tensor zeros() const {
    return kept.defined() ? at::zeros_like(kept)
                          : at::zeros_symint(sizes, options);
  }
};

// An undefined tensor stands for an absent one.
inline std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

// Symbolic numbers where libtorch takes no others than plain ones.
inline int64_t concrete(const c10::SymInt& number) {
  return number.guard_int(__FILE__, __LINE__);
}

inline double concrete(const c10::SymFloat& number) {
  return number.guard_float(__FILE__, __LINE__);
}

inline std::vector<int64_t> concrete(c10::SymIntArrayRef numbers) {
  std::vector<int64_t> plain;
  for (const auto& number : numbers) {
    plain.push_back(concrete(number));
  }
  return plain;
}

// What may be absent, in one form.
template <class Value>
std::optional<Value> possible(Value value) {
  return value;
}

template <class Value>
std::optional<Value> possible(const std::optional<Value>& value) {
  return value;
}

template <class Value>
std::optional<c10::ArrayRef<Value>> possible(
    const c10::OptionalArrayRef<Value>& values) {
  return values.has_value() ? std::make_optional(*values) : std::nullopt;
}

template <class Value>
std::optional<c10::ArrayRef<Value>> possible(
    const c10::OptionalArray<Value>& values) {
  if (!values.list.has_value()) {
    return std::nullopt;
  }
  return c10::ArrayRef<Value>(*values.list);
}

template <class Value>
const Value& comparable(const Value& value) {
  return value;
}

inline double comparable(const at::Scalar& number) {
  return number.toDouble();
}

inline double comparable(const c10::SymFloat& number) {
  return concrete(number);
}

// `a == b` in a formula, where one may be absent.
template <class Left, class Right>
bool equal(const Left& a, const Right& b) {
  const auto left = possible(a);
  const auto right = possible(b);
  if (left.has_value() && right.has_value()) {
    return comparable(*left) == comparable(*right);
  }
  return !left.has_value() && !right.has_value();
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

inline at::Tensor item(const at::Tensor& tensor, int64_t index) {
  return tensor.select(0, index);
}

// One of the results of an operator that has several.
template <class... Results>
auto item(const std::tuple<Results...>& results, int64_t index) {
  const auto pick = [=](auto&... each) {
    return item(std::vector{each...}, index);
  };
  return std::apply(pick, results);
}

inline bool is_defined(const at::Tensor& grad) {
  return grad.defined();
}

// Whether no gradient arrived, so that none is passed on.
inline bool is_nothing(const variable_list& grads) {
  return std::none_of(grads.begin(), grads.end(), is_defined);
}

inline void reset(SavedVariable& saved) {
  saved.reset_data();
}

inline void reset(std::vector<SavedVariable>& saved) {
  for (auto& one : saved) {
    one.reset_data();
  }
}

// A recorded call, whose formulas give the gradients of its arguments, and in
// forward mode the tangents of its results: Note [Forward mode is transposed]
// in autograd_kernels.h.
struct Node : public torch::autograd::Node {
  virtual variable_list gradients(variable_list& grads) = 0;

  // That of the struct, without namespaces.
  std::string name() const override {
    const auto full = torch::autograd::Node::name();
    return full.substr(full.rfind(':') + 1);
  }

  variable_list apply(variable_list&& grads) override {
    if (is_nothing(grads)) {
      return variable_list(num_outputs());
    }
    std::lock_guard<std::mutex> lock(mutex_);
    return gradients(grads);
  }

  // Whether a gradient needs what is kept for it.
  bool keeps(size_t edge) const {
    const bool has_tangent = edge < tangents.size() && tangents[edge].defined();
    return should_compute_output(edge) || has_tangent;
  }

  // Those of the arguments, for each edge, while the call lasts; empty if there
  // are none.
  variable_list tangents;
  bool is_recorded = true;
  bool is_transposed = false;
  bool is_tried = false;

 protected:
  template <class... Saved>
  void release(Saved&... saved) {
    std::lock_guard<std::mutex> lock(mutex_);
    (reset(saved), ...);
  }
};

inline at::Tensor unpack(Node& node, const SavedVariable& saved) {
  // The node is part of a result's history: passing it avoids a cycle.
  auto value = saved.unpack(node.getptr());
  const bool is_dual = node.is_transposed && value.defined();
  return is_dual ? value._fw_primal(/*level=*/0) : value;
}

inline variable_list unpack(
    Node& node,
    const std::vector<SavedVariable>& saved) {
  variable_list tensors;
  tensors.reserve(saved.size());
  for (const auto& one : saved) {
    tensors.push_back(unpack(node, one));
  }
  return tensors;
}

inline c10::List<std::optional<at::Tensor>> unpack_optional(
    Node& node,
    const std::vector<SavedVariable>& saved) {
  c10::List<std::optional<at::Tensor>> tensors;
  for (const auto& one : saved) {
    tensors.push_back(optional(unpack(node, one)));
  }
  return tensors;
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

// Zeros in place of gradients that did not arrive. Where one that did is of a
// subclass, such as DTensor, they are too.
inline void materialize(const Node& node, variable_list& grads) {
  const auto given = std::find_if(grads.begin(), grads.end(), is_defined);
  for (size_t i = 0; !node.is_transposed && i < grads.size(); ++i) {
    const auto& output = node.input_metadata(i);
    if (grads[i].defined() || output.was_default_constructed()) {
      continue;
    }
    const auto sizes = output.shape_as_dim_vector();
    grads[i] = output.is_tensor_subclass()
        ? given->new_zeros_symint(sizes, output.options())
        : output.zeros_like();
  }
}

// Whether any gradient in a range is needed.
inline bool wanted(const Node& node, size_t first, size_t count = 1) {
  for (size_t i = first; i < first + count; ++i) {
    if (node.is_transposed ? node.tangents[i].defined()
                           : node.task_should_compute_output(i)) {
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
variable_list gather(const Node& node, Gradients&&... gradients) {
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
