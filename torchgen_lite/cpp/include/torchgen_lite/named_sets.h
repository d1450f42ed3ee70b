// The keysets that have a name in c10, and which runtime keys an alias key
// stands for.
#pragma once

#include <torchgen_lite/dispatch_key_set.h>

namespace torchgen_lite {

inline constexpr DispatchKeySet all_backends_keyset =
    DispatchKeySet::from_raw_repr(detail::backend_mask);

// Functionalities alone, without backend bits.
inline constexpr DispatchKeySet autograd_dispatch_keyset = {
    DispatchKey::AutogradFunctionality,
    DispatchKey::AutogradOther,
    DispatchKey::AutogradNestedTensor};

inline constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView =
    autograd_dispatch_keyset.add(DispatchKey::ADInplaceOrView);

namespace detail {

constexpr DispatchKeySet autocastKeys() {
  DispatchKeySet keys;
  for (int value = 0; value < num_functionality_keys; ++value) {
    const DispatchKey key = static_cast<DispatchKey>(value);
    if (toString(key).substr(0, 8) == "Autocast") {
      keys = keys.add(key);
    }
  }
  return keys;
}

} // namespace detail

inline constexpr DispatchKeySet autocast_dispatch_keyset =
    detail::autocastKeys();

inline constexpr DispatchKeySet default_included_set = {
    DispatchKey::BackendSelect,
    DispatchKey::ADInplaceOrView};
inline constexpr DispatchKeySet default_excluded_set = autocast_dispatch_keyset;

// The backends whose autograd key is AutogradOther, as they lack their own.
inline constexpr DispatchKeySet autogradother_backends = all_backends_keyset |
    DispatchKeySet{
        DispatchKey::FPGA,
        DispatchKey::Vulkan,
        DispatchKey::Metal,
        DispatchKey::CustomRNGKeyId,
        DispatchKey::MkldnnCPU,
        DispatchKey::Sparse,
        DispatchKey::SparseCsr,
        DispatchKey::Quantized};

// What an autograd kernel masks its keyset with before it redispatches.
inline constexpr DispatchKeySet after_autograd_keyset =
    DispatchKeySet::full_after(DispatchKey::AutogradOther);
inline constexpr DispatchKeySet after_ADInplaceOrView_keyset =
    DispatchKeySet::full_after(DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet after_func_keyset =
    DispatchKeySet::full_after(DispatchKey::Functionalize)
        .remove(DispatchKey::ADInplaceOrView);

namespace detail {

inline constexpr DispatchKeySet backends_of_composites = all_backends_keyset |
    DispatchKeySet{
        DispatchKey::Dense,
        DispatchKey::Quantized,
        DispatchKey::Sparse,
        DispatchKey::SparseCsr,
        DispatchKey::FPGA,
        DispatchKey::Vulkan,
        DispatchKey::Metal,
        DispatchKey::CustomRNGKeyId,
        DispatchKey::MkldnnCPU};
inline constexpr DispatchKeySet nested_keyset =
    all_backends_keyset.add(DispatchKey::NestedTensor);
inline constexpr DispatchKeySet autograd_runtime_keyset =
    all_backends_keyset | autograd_dispatch_keyset;

constexpr bool leadsBackToItsBackend(DispatchKey autograd) {
  for (const DispatchKey key : key_tables::autograd_without_backend) {
    if (key == autograd) {
      return false;
    }
  }
  return toBackendComponent(autograd) != BackendComponent::InvalidBit;
}

} // namespace detail

// The keys that registering at `key` reaches: the members of an alias, or the
// key alone. Undefined gives the empty set.
constexpr DispatchKeySet getRuntimeDispatchKeySet(DispatchKey key) {
  switch (key) {
    case DispatchKey::Autograd:
      return detail::autograd_runtime_keyset;
    case DispatchKey::CompositeImplicitAutograd:
      return detail::backends_of_composites | detail::autograd_runtime_keyset |
          detail::nested_keyset;
    case DispatchKey::CompositeExplicitAutograd:
      return detail::backends_of_composites;
    case DispatchKey::CompositeExplicitAutogradNonFunctional:
      // Its kernels call views and in-place operators, which Sparse cannot run;
      // XLA and Lazy functionalize by themselves.
      return detail::backends_of_composites.remove(DispatchKey::Sparse)
          .remove_backend(BackendComponent::XLABit)
          .remove_backend(BackendComponent::LazyBit);
    case DispatchKey::CompositeImplicitAutogradNestedTensor:
      return detail::nested_keyset.add(DispatchKey::AutogradNestedTensor);
    case DispatchKey::FuncTorchBatchedDecomposition:
      return DispatchKeySet(DispatchKey::FuncTorchBatched);
    default:
      return DispatchKeySet(key);
  }
}

// Whether a kernel registered at `alias` serves `key`; never for Undefined.
constexpr bool isIncludedInAlias(DispatchKey key, DispatchKey alias) {
  return key != DispatchKey::Undefined &&
      getRuntimeDispatchKeySet(alias).has(key);
}

// The backends whose autograd this key is: AutogradCPU gives {CPU},
// AutogradOther the backends without their own autograd key,
// AutogradNestedTensor every nested-tensor key, any other key the empty set.
constexpr DispatchKeySet getBackendKeySetFromAutograd(DispatchKey key) {
  if (key == DispatchKey::AutogradOther) {
    return autogradother_backends;
  }
  if (key == DispatchKey::AutogradNestedTensor) {
    return detail::nested_keyset;
  }
  if (toFunctionalityKey(key) == DispatchKey::AutogradFunctionality &&
      detail::leadsBackToItsBackend(key)) {
    return DispatchKeySet(DispatchKey::Dense) |
        DispatchKeySet(toBackendComponent(key));
  }
  return DispatchKeySet();
}

} // namespace torchgen_lite
