#pragma once

#include "autograd_kernels.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstddef>
#include <optional>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::autograd {

// What autocast does on each device.
class Autocast {
 public:
  Autocast() {
    for (int i = 0; i < at::COMPILE_TIME_MAX_DEVICE_TYPES; ++i) {
      const auto device = static_cast<at::DeviceType>(i);
      if (at::autocast::is_autocast_available(device)) {
        devices_.push_back(
            {device,
             at::autocast::is_autocast_enabled(device),
             at::autocast::get_autocast_dtype(device)});
      }
    }
  }

  void set() const {
    for (const auto& one : devices_) {
      at::autocast::set_autocast_enabled(one.type, one.is_enabled);
      at::autocast::set_autocast_dtype(one.type, one.dtype);
    }
  }

 private:
  struct Device {
    at::DeviceType type;
    bool is_enabled;
    at::ScalarType dtype;
  };
  std::vector<Device> devices_;
};

// A recorded call whose gradients are those of a reference, which is computed
// again, under the autocast of the call.
struct ReferenceNode : public Node {
  const Autocast autocast;
};

// While a reference is computed again, of arguments in place of which others
// stand, as if these came from nowhere: one may be computed from another.
class Recomputed {
 public:
  template <class... Arguments>
  explicit Recomputed(ReferenceNode& node, Arguments&... arguments)
      : node_(node) {
    state_.emplace();
    (replace(arguments), ...);
    node.autocast.set();
  }

  // The gradients of the arguments by the results, and those of the results.
  variable_list gradients(
      const variable_list& grads,
      const variable_list& results) {
    state_.reset();
    TORCH_CHECK(
        results.size() == grads.size(),
        "the reference gives ",
        results.size(),
        " tensors, and the operator ",
        grads.size());
    variable_list outputs;
    variable_list weights;
    for (size_t i = 0; i < results.size(); ++i) {
      if (grads[i].defined() && results[i].defined() &&
          results[i].requires_grad()) {
        TORCH_CHECK(
            results[i].sym_sizes() == grads[i].sym_sizes(),
            "the reference gives ",
            results[i].sym_sizes(),
            ", and the operator ",
            grads[i].sym_sizes());
        outputs.push_back(results[i]);
        weights.push_back(grads[i].to(results[i].scalar_type()));
      }
    }
    variable_list all(node_.num_outputs());
    if (!outputs.empty() && !inputs_.empty()) {
      const bool creates_graph =
          at::GradMode::is_enabled() && (is_recorded_ || has_history(grads));
      const WithoutPythonsLock unlocked;
      const auto found = torch::autograd::grad(
          outputs,
          inputs_,
          weights,
          /*retain_graph=*/creates_graph,
          /*create_graph=*/creates_graph,
          /*allow_unused=*/true);
      for (size_t i = 0; i < found.size(); ++i) {
        all[edges_[i]] = found[i];
      }
    }
    return gather(node_, all);
  }

 private:
  // What is cast here is not for calls to come.
  struct State {
    State() {
      at::autocast::set_autocast_cache_enabled(false);
    }
    ~State() {
      autocast.set();
      at::autocast::set_autocast_cache_enabled(is_cached);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const at::AutoGradMode grad_mode{true};
    const Autocast autocast;
    const bool is_cached = at::autocast::is_autocast_cache_enabled();
  };

  void replace(at::Tensor& tensor) {
    if (tensor.defined()) {
      // Without the transforms of torch.func that have ended since it was kept.
      tensor = tensor.view_as(tensor);
      is_recorded_ |= tensor.requires_grad();
    }
    if (wanted(node_, edge_)) {
      if (!tensor.requires_grad()) {
        tensor.set_requires_grad(true);
      }
      inputs_.push_back(tensor);
      edges_.push_back(edge_);
    }
    ++edge_;
  }

  void replace(variable_list& tensors) {
    for (auto& tensor : tensors) {
      replace(tensor);
    }
  }

  void replace(c10::List<std::optional<at::Tensor>>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      auto tensor = tensors.get(i).value_or(at::Tensor());
      replace(tensor);
      tensors.set(i, optional(tensor));
    }
  }

  ReferenceNode& node_;
  std::optional<State> state_;
  bool is_recorded_ = false;
  size_t edge_ = 0;
  std::vector<size_t> edges_;
  variable_list inputs_;
};

} // namespace TORCHGEN_LITE_NAMESPACE::autograd

#undef TORCHGEN_LITE_NAMESPACE
