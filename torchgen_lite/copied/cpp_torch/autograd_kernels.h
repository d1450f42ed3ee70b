#pragma once

#include "autograd.h"
#include "tensor_memory.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

// A tangent that would silently be lost.
template <class... Tensors>
void refuse_tangents(const char* message, const Tensors&... tensors) {
  TORCH_CHECK_NOT_IMPLEMENTED(!memory::any_has_tangent(tensors...), message);
}

// A tensor without a formula, in a call that would need one.
template <class Tensor>
void check_constant(const char* message, const Tensor& tensor) {
  const bool is_recorded = memory::any_requires_grad(tensor);
  TORCH_CHECK(!is_recorded && !memory::any_has_tangent(tensor), message);
}

// The tensors of an argument or of a result, with an undefined one for each
// that is absent.
inline variable_list each(const at::Tensor& tensor) {
  return {tensor};
}

inline variable_list each(const std::optional<at::Tensor>& tensor) {
  return {tensor.value_or(at::Tensor())};
}

template <class List>
variable_list each(const List& tensors) {
  variable_list all;
  for (const std::optional<at::Tensor> tensor : tensors) {
    all.push_back(tensor.value_or(at::Tensor()));
  }
  return all;
}

template <class... Tensors>
variable_list flat(const Tensors&... tensors) {
  variable_list all;
  (append(all, each(tensors)), ...);
  return all;
}

inline at::Tensor tangent_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor._fw_grad(/*level=*/0) : at::Tensor();
}

// What autograd has to do for a call: false if nothing. The tangents are those
// of the arguments, or none if no argument has one.
struct Call {
  template <class... Tensors>
  explicit Call(const Tensors&... arguments)
      : is_recorded(memory::any_requires_grad(arguments...)) {
    if (memory::any_has_tangent(arguments...)) {
      for (const auto& one : flat(arguments...)) {
        tangents.push_back(tangent_of(one));
      }
    }
  }

  explicit operator bool() const {
    return is_recorded || !tangents.empty();
  }

  bool is_recorded;
  variable_list tangents;
};

template <class T, class... Tensors>
NodePtr<T> make_node(const Call& call, const Tensors&... arguments) {
  auto node = new_node<T>();
  node->set_next_edges(torch::autograd::collect_next_edges(arguments...));
  node->is_recorded = call.is_recorded;
  node->tangents = call.tangents;
  return node;
}

// Results of integers have no gradient.
template <class T, class Result>
void set_history(const NodePtr<T>& node, const Result& result) {
  for (const auto& one : node->is_recorded ? each(result) : variable_list()) {
    const bool is_constant = one.defined() &&
        !torch::autograd::isDifferentiableType(one.scalar_type());
    torch::autograd::set_history(is_constant ? at::Tensor() : one, node);
  }
}

template <class T>
void rebase_history(const NodePtr<T>& node, const at::Tensor& result) {
  if (node->is_recorded) {
    torch::autograd::rebase_history(result, node);
  }
}

// Give results their tangents; a view has that of its base. These are copies: a
// formula may pass on the tangent of an argument, and what is then written to
// one is not for both.
inline void set_tangents(
    Node& node,
    const variable_list& results,
    const variable_list& tangents,
    bool is_inplace = false) {
  node.tangents.clear();
  TORCH_CHECK(results.size() == tangents.size(), "a tangent for each result");
  for (size_t i = 0; i < results.size(); ++i) {
    const auto old = tangent_of(results[i]);
    if (results[i].defined() && tangents[i].defined() &&
        (is_inplace || !old.defined())) {
      const auto made =
          old.defined() ? old.copy_(tangents[i]) : tangents[i].clone();
      results[i]._set_fw_grad(made, /*level=*/0, is_inplace);
    }
  }
}

// The tangent of an argument as a gradient of its gradient, which the engine
// would reduce to the shape of the argument, and convert to its dtype.
inline at::Tensor as_weight(at::Tensor tangent, const at::Tensor& gradient) {
  if (tangent.is_complex() && !gradient.is_complex()) {
    tangent = at::real(tangent);
  }
  return tangent.to(gradient.scalar_type()).expand_symint(gradient.sym_sizes());
}

// torch.compile calls kernels with Python's lock, which the engine must not be
// given: what its nodes call may wait for it. Where a library is not linked with
// Python, the process is asked.
class WithoutPythonsLock {
 public:
  WithoutPythonsLock() {
    const auto is_held = find<int (*)()>("PyGILState_Check");
    const auto save = find<void* (*)()>("PyEval_SaveThread");
    if (is_held != nullptr && save != nullptr && is_held() != 0) {
      thread_ = save();
    }
  }
  ~WithoutPythonsLock() {
    if (thread_ != nullptr) {
      find<void (*)(void*)>("PyEval_RestoreThread")(thread_);
    }
  }
  WithoutPythonsLock(const WithoutPythonsLock&) = delete;
  WithoutPythonsLock& operator=(const WithoutPythonsLock&) = delete;

 private:
  template <class Function>
  static Function find([[maybe_unused]] const char* name) {
#ifdef _WIN32
    return nullptr;
#else
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
#endif
  }

  void* thread_ = nullptr;
};

// Whether what is computed from these values has a history. What a transform of
// torch.func around this one records can't be seen here.
template <class... Values>
bool has_history(const Values&... values) {
  const c10::DispatchKeySet transforms(
      {c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
       c10::DispatchKey::FuncTorchDynamicLayerBackMode});
  const auto here = c10::impl::tls_local_dispatch_key_set().included_;
  return memory::any_requires_grad(values...) ||
      (here.has_any(transforms) && at::GradMode::is_enabled());
}

// Gradients of arguments, each with the tangent of its argument.
struct Pairs {
  variable_list gradients;
  variable_list tangents;
};

// What the formulas give for these gradients of results.
inline Pairs computed(
    Node& node,
    const char* name,
    const variable_list& grads,
    bool is_inplace) {
  struct Transposed {
    explicit Transposed(Node& node) : node(node) {
      node.is_transposed = true;
    }
    ~Transposed() {
      node.is_transposed = false;
    }
    Node& node;
  } const guard(node);
  const at::AutoGradMode enabled(true);
  auto given = grads;
  Pairs pairs;
  const auto all = node.gradients(given);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& tangent = node.tangents[i];
    if (all[i].defined() && tangent.defined()) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          all[i].requires_grad(),
          name,
          " has no formula for forward-mode: its formulas can't be differentiated");
      pairs.gradients.push_back(all[i]);
      // What is kept of the tangent of a tensor that is written may not change.
      pairs.tangents.push_back(
          as_weight(is_inplace ? tangent.clone() : tangent, all[i]));
    }
  }
  return pairs;
}

// The derivative of gradients by these zeros, applied to the tangents.
inline variable_list pulled(
    const Pairs& pairs,
    const variable_list& zeros,
    bool is_recorded) {
  const WithoutPythonsLock unlocked;
  auto found = torch::autograd::grad(
      pairs.gradients,
      zeros,
      pairs.tangents,
      /*retain_graph=*/is_recorded,
      /*create_graph=*/is_recorded,
      /*allow_unused=*/true);
  for (size_t i = 0; i < found.size(); ++i) {
    found[i] = found[i].defined() ? found[i] : at::zeros_like(zeros[i]);
  }
  return found;
}

// Note [Formulas are tried]
// What an operator of the library or a function of the author's does with a
// gradient is not known. If a formula calls one, each call in forward mode tries
// it: it gives zeros for zeros, it has the same derivative at another point, and
// it gives there what the derivative says. If it does not, the call is refused;
// where values can't be read, since they are traced, the tangents are nan.

// A dtype in which sums are not cut off.
inline at::Tensor exact(const at::Tensor& value) {
  const auto type = c10::promoteTypes(value.scalar_type(), at::kFloat);
  return value.to(type);
}

inline double tolerance(const at::Tensor& value) {
  switch (c10::toRealValueType(value.scalar_type())) {
    case at::kDouble:
      return 1e-6;
    case at::kFloat:
      return 2e-3;
    default:
      return 0.15;
  }
}

// Whether two derivatives differ by more than rounding does; what is not a number
// does not count.
inline at::Tensor differ(const at::Tensor& value, const at::Tensor& other) {
  const auto size = exact(value).abs();
  const auto scale = size + exact(other).abs() + size.mean();
  const auto difference = (exact(value) - exact(other)).abs();
  return difference.gt(scale * tolerance(value)).any();
}

// The sum of products, and that of their sizes.
inline std::pair<at::Tensor, at::Tensor> multiplied(
    const variable_list& values,
    const variable_list& others) {
  at::Tensor total;
  at::Tensor size;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto product = exact(values[i]).conj() * exact(others[i]);
    const auto sum = at::real(product).sum();
    const auto sizes = product.abs().sum();
    total = total.defined() ? total + sum : sum;
    size = size.defined() ? size + sizes : sizes;
  }
  return {total, size};
}

// Whether formulas that give these gradients for zeros are not linear.
inline at::Tensor is_doubted(
    Node& node,
    const char* name,
    variable_list grads,
    bool is_inplace,
    const variable_list& zeros,
    const Pairs& pairs,
    const variable_list& tangents) {
  // Nothing here is differentiated.
  const at::AutoGradMode unrecorded(false);
  variable_list points;
  auto next = tangents.begin();
  for (auto& grad : grads) {
    if (grad.defined() && grad.requires_grad()) {
      const auto& tangent = *next++;
      // A point that is neither zero nor the same everywhere.
      const auto steps = at::arange(
                             c10::Scalar(tangent.sym_numel()),
                             tangent.options().dtype(at::kDouble))
                             .reshape_symint(tangent.sym_sizes());
      points.push_back(tangent + steps.cos().to(tangent.scalar_type()));
      const at::AutoGradMode enabled(true);
      grad = grad + points.back();
    }
  }
  const auto others = computed(node, name, grads, is_inplace);
  const auto again = pulled(others, zeros, false);
  auto doubt = differ(tangents[0], again[0]);
  for (size_t i = 1; i < tangents.size(); ++i) {
    doubt = doubt.logical_or(differ(tangents[i], again[i]));
  }
  double rounding = 0;
  for (const auto& gradient : pairs.gradients) {
    const auto value = exact(gradient).abs();
    doubt = doubt.logical_or(value.gt(0).any());
    rounding = std::max(rounding, tolerance(gradient));
  }
  const auto [total, size] = multiplied(others.gradients, others.tangents);
  const auto [expected, other] = multiplied(points, tangents);
  const auto difference = (total - expected).abs();
  return doubt.logical_or(difference.gt((size + other) * rounding));
}

// Whether a value is true, if it can be read: not while it is traced, and not in
// a batch below another transform.
inline std::optional<bool> is_true(at::Tensor value) {
  while (auto* batched = at::functorch::maybeGetBatchedImpl(value)) {
    value = batched->value();
  }
  const c10::DispatchKeySet traced(
      {c10::DispatchKey::Python, c10::DispatchKey::Functionalize});
  if (c10::impl::dispatch_mode_enabled() || value.is_meta() ||
      value.key_set().has_any(traced)) {
    return std::nullopt;
  }
  try {
    return value.any().item<bool>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// The tangents, or a refusal if they are not right.
inline variable_list if_linear(
    const char* name,
    const at::Tensor& doubt,
    variable_list tangents) {
  const auto is_wrong = is_true(doubt);
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_wrong.value_or(false),
      name,
      " has no formula for forward-mode: its formulas are not linear in the gradient");
  for (size_t i = 0; i < tangents.size() && !is_wrong.has_value(); ++i) {
    tangents[i] = tangents[i].masked_fill(
        doubt,
        std::numeric_limits<double>::quiet_NaN());
  }
  return tangents;
}

// The tangents of results by the formulas.
//
// Note [Forward mode is transposed]
// A formula gives the gradient of an argument, and is linear in the gradients
// of the results. So autograd can differentiate it, at any point: its
// derivative, applied to the tangent of the argument, is the tangent of the
// results.
inline variable_list transposed(
    Node& node,
    const char* name,
    const variable_list& results,
    bool is_inplace) {
  variable_list grads;
  variable_list zeros;
  {
    const at::AutoGradMode enabled(true);
    for (const auto& result : results) {
      auto& grad = grads.emplace_back();
      if (result.defined()) {
        grad = at::zeros_like(result);
        if (torch::autograd::isDifferentiableType(grad.scalar_type())) {
          zeros.push_back(grad.set_requires_grad(true));
        }
      }
    }
  }
  const auto pairs = computed(node, name, grads, is_inplace);
  variable_list found;
  for (const auto& zero : zeros) {
    found.push_back(at::zeros_like(zero));
  }
  if (!pairs.gradients.empty() && !zeros.empty()) {
    // The zeros that the formulas are differentiated by are none of it.
    const bool creates_graph = node.is_recorded || has_history(node.tangents);
    found = pulled(pairs, zeros, creates_graph);
    if (node.is_tried) {
      for (const auto& tangent : pairs.tangents) {
        // There, what is computed has no history.
        TORCH_CHECK_NOT_IMPLEMENTED(
            !tangent.key_set().has(c10::DispatchKey::Batched),
            name,
            " has no formula for forward-mode in the batches of gradcheck: "
            "formulas can't be tried there");
      }
      const auto doubt =
          is_doubted(node, name, grads, is_inplace, zeros, pairs, found);
      found = if_linear(name, doubt, std::move(found));
    }
  }
  auto next = found.begin();
  for (auto& grad : grads) {
    const bool has_tangent = grad.defined() && grad.requires_grad();
    grad = has_tangent ? *next++ : at::Tensor();
  }
  return grads;
}

// The tangents of the results of a call, if its arguments have any. Formulas may
// read what is kept of the results, which is kept again with the tangents.
template <class Keep, class... Results>
void carry_tangents(
    Node& node,
    const char* name,
    const Keep& keep,
    const Results&... results) {
  keep();
  if (!node.tangents.empty()) {
    const auto all = flat(results...);
    set_tangents(node, all, transposed(node, name, all, false));
    keep();
  }
}

template <class Keep>
void update_tangent(
    Node& node,
    const char* name,
    const Keep& keep,
    const at::Tensor& written) {
  keep();
  if (!node.tangents.empty()) {
    const variable_list all{written};
    set_tangents(node, all, transposed(node, name, all, true), true);
    keep();
  }
}

// The call below autograd, which records nothing of what the kernel calls. What
// is written is also seen at ADInplaceOrView; of other operators the results are
// compared with the schema here.
template <class Operator, class Guard, class... Arguments>
decltype(auto) below(c10::DispatchKeySet keys, Arguments&&... arguments) {
  using Result = decltype(Operator::redispatch(keys, arguments...));
  constexpr bool is_last =
      std::is_same_v<Guard, at::AutoDispatchBelowADInplaceOrView>;
  const auto call = [&]() -> Result {
    const Guard guard;
    const auto rest = keys & c10::after_autograd_keyset;
    return Operator::redispatch(rest, arguments...);
  };
  if constexpr (is_last && !std::is_void_v<Result>) {
    Result result = call();
    memory::check_results<Operator>(result, arguments...);
    return result;
  } else {
    return call();
  }
}

// Kernels that are the same for every operator, but for the positions of the
// arguments that they are about.
template <class Operator, class Schema, size_t... positions>
struct KernelsOf;

template <class Operator, size_t... positions>
using Kernels = KernelsOf<Operator, typename Operator::schema, positions...>;

template <class Operator, class Result, class... Arguments, size_t... positions>
struct KernelsOf<Operator, Result(Arguments...), positions...> {
  // For an operator whose derivative is zero. The history of what it writes, the
  // arguments at the positions, would have to end.
  template <class Guard>
  static Result pass(c10::DispatchKeySet keys, Arguments... arguments) {
    [[maybe_unused]] const auto all = std::tie(arguments...);
    TORCH_CHECK_NOT_IMPLEMENTED(
        !memory::any_has_tangent(std::get<positions>(all)...),
        full_name(),
        " has no formula for forward-mode of what it writes");
    (refuse_history(std::get<positions>(all)), ...);
    return below<Operator, Guard>(keys, arguments...);
  }

  // For an operator that writes arguments.
  static Result raise_versions(
      c10::DispatchKeySet keys,
      Arguments... arguments) {
    memory::begin_writing(std::get<positions>(std::tie(arguments...))...);
    const auto call = [&]() -> Result {
      const at::AutoDispatchBelowADInplaceOrView guard;
      const auto below = keys & c10::after_ADInplaceOrView_keyset;
      return Operator::redispatch(below, arguments...);
    };
    if constexpr (std::is_void_v<Result>) {
      call();
      memory::end_writing(std::get<positions>(std::tie(arguments...))...);
    } else {
      Result result = call();
      memory::end_writing(std::get<positions>(std::tie(arguments...))...);
      memory::check_results<Operator>(result, arguments...);
      return result;
    }
  }

  // At BackendSelect, for one whose arguments carry no keys: in inference mode, a
  // call of it has no ADInplaceOrView.
  static Result raise_versions_in_inference(
      c10::DispatchKeySet keys,
      Arguments... arguments) {
    const bool is_here = c10::InferenceMode::is_enabled();
    if (is_here) {
      memory::begin_writing(std::get<positions>(std::tie(arguments...))...);
    }
    const auto call = [&]() -> Result {
      constexpr c10::DispatchKeySet after(
          c10::DispatchKeySet::FULL_AFTER,
          c10::DispatchKey::BackendSelect);
      return Operator::redispatch(keys & after, arguments...);
    };
    const auto end = [&] {
      if (is_here) {
        memory::end_writing(std::get<positions>(std::tie(arguments...))...);
      }
    };
    if constexpr (std::is_void_v<Result>) {
      call();
      end();
    } else {
      Result result = call();
      end();
      return result;
    }
  }

  // For an out variant. The arguments at the positions may not need gradients,
  // and none of its `tensors` may have a tangent.
  template <size_t... tensors>
  static Result refuse_out(c10::DispatchKeySet keys, Arguments... arguments) {
    const auto all = std::tie(arguments...);
    TORCH_CHECK_NOT_IMPLEMENTED(
        !memory::any_has_tangent(std::get<tensors>(all)...),
        full_name(),
        " has no formula for forward-mode");
    if (memory::any_requires_grad(std::get<positions>(all)...)) {
      torch::autograd::throw_error_out_requires_grad(Operator::name);
    }
    return below<Operator, at::AutoDispatchBelowAutograd>(keys, arguments...);
  }

 private:
  static std::string full_name() {
    const std::string overload = Operator::overload_name;
    return Operator::name + (overload.empty() ? overload : "." + overload);
  }

  template <class Written>
  static void refuse_history(const Written& written) {
    memory::each_tensor(written, [](const at::Tensor& tensor) {
      const bool is_recorded = memory::any_requires_grad(tensor);
      torch::autograd::check_inplace(tensor, is_recorded);
      TORCH_CHECK(
          !is_recorded,
          full_name(),
          " has no derivative with respect to what it writes: give it a formula");
    });
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
