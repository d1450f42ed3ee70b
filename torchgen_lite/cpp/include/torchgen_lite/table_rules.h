// The rules by which an operator's dispatch table is computed, the same and in
// the same order as in c10 OperatorEntry::computeDispatchTableEntryWithDebug.
// The result does not depend on the order of registrations.
#pragma once

#include <bitset>
#include <vector>

#include <torchgen_lite/named_sets.h>

namespace torchgen_lite {

// Which rule chose the kernel of a slot.
enum class Origin : std::uint8_t {
  Kernel,
  DefaultBackendKernel,
  NestedKernel,
  MathKernel,
  AutogradKernel,
  BatchedKernel,
  AmbiguousAutogradOther,
  BackendFallback,
  Missing,
};

constexpr std::string_view toString(Origin origin) {
  constexpr std::string_view texts[] = {
      "kernel",
      "default backend kernel",
      "nested kernel",
      "math kernel",
      "autograd kernel",
      "batched kernel",
      "ambiguous autogradother",
      "backend fallback",
      "missing"};
  return texts[static_cast<std::size_t>(origin)];
}

namespace detail {

// The keys at which an operator has kernels.
class RegisteredKeys final {
 public:
  void add(DispatchKey key) {
    present_.set(static_cast<std::size_t>(key));
    if (!isAliasDispatchKey(key)) {
      runtime_.push_back(key);
    }
  }
  bool has(DispatchKey key) const {
    return present_.test(static_cast<std::size_t>(key));
  }
  // Alias keys own no bit, so they do not count.
  bool hasAny(DispatchKeySet keys) const {
    for (const DispatchKey key : runtime_) {
      if (keys.has(key)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::bitset<key_tables::names.size()> present_;
  std::vector<DispatchKey> runtime_;
};

// What serves a slot: a rule, and the key that the kernel is registered at.
struct Choice {
  Origin origin;
  DispatchKey source;
};

inline Choice choose(
    DispatchKey slot,
    const RegisteredKeys& registered,
    bool has_fallback) {
  const auto serves = [&](DispatchKey alias, bool undefined) {
    return registered.has(alias) &&
        ((undefined && slot == DispatchKey::Undefined) ||
         isIncludedInAlias(slot, alias));
  };
  // Registrations at Undefined count as CompositeImplicitAutograd instead.
  if (registered.has(slot)) {
    return {Origin::Kernel, slot};
  }
  for (const DispatchKey alias :
       {DispatchKey::CompositeExplicitAutogradNonFunctional,
        DispatchKey::CompositeExplicitAutograd}) {
    if (serves(alias, true)) {
      return {Origin::DefaultBackendKernel, alias};
    }
  }
  if (serves(DispatchKey::CompositeImplicitAutogradNestedTensor, false)) {
    return {
        Origin::NestedKernel,
        DispatchKey::CompositeImplicitAutogradNestedTensor};
  }
  if (serves(DispatchKey::CompositeImplicitAutograd, true)) {
    if (slot == DispatchKey::AutogradOther &&
        registered.hasAny(autogradother_backends)) {
      return {Origin::AmbiguousAutogradOther, DispatchKey::Undefined};
    }
    // A backend that has its own kernel also has its own autograd.
    if (!registered.has(DispatchKey::CompositeExplicitAutograd) &&
        !registered.hasAny(getBackendKeySetFromAutograd(slot))) {
      return {Origin::MathKernel, DispatchKey::CompositeImplicitAutograd};
    }
  }
  if (serves(DispatchKey::Autograd, false)) {
    return {Origin::AutogradKernel, DispatchKey::Autograd};
  }
  if (serves(DispatchKey::FuncTorchBatchedDecomposition, false)) {
    return {Origin::BatchedKernel, DispatchKey::FuncTorchBatchedDecomposition};
  }
  return {
      has_fallback ? Origin::BackendFallback : Origin::Missing,
      DispatchKey::Undefined};
}

} // namespace detail
} // namespace torchgen_lite
