// The thread-local include and exclude sets, and the guards that change them
// (c10/core/impl/LocalDispatchKeySet.h).
//
// Guards save both sets when they are made and restore them at their end, as
// c10's guards of 2.13 do: changes inside are undone even if they were made by
// other means.
#pragma once

#include <torchgen_lite/named_sets.h>

namespace torchgen_lite {

// `included` is added to the keyset of every call, `excluded` is removed.
struct LocalDispatchKeySet {
  DispatchKeySet included;
  DispatchKeySet excluded;
};

namespace detail {

// In the form that a call needs: two operations, without a constant. `kept` is
// what the excluded set leaves; backend bits always stay.
struct RawLocalState {
  std::uint64_t included;
  std::uint64_t kept;
  std::uint64_t excluded;

  static constexpr RawLocalState of(LocalDispatchKeySet state) {
    return {
        state.included.raw_repr(),
        ~state.excluded.raw_repr() | backend_mask,
        state.excluded.raw_repr()};
  }
};

// A compile-time constant, so that no thread has to construct anything before
// its first call.
TORCHGEN_LITE_API inline thread_local RawLocalState raw_local_state
    TORCHGEN_LITE_TLS_MODEL =
        RawLocalState::of({default_included_set, default_excluded_set});

} // namespace detail

TORCHGEN_LITE_ALWAYS_INLINE LocalDispatchKeySet tls_local_dispatch_key_set() {
  const detail::RawLocalState& raw = detail::raw_local_state;
  return {
      DispatchKeySet::from_raw_repr(raw.included),
      DispatchKeySet::from_raw_repr(raw.excluded)};
}

inline void force_tls_local_dispatch_key_set(LocalDispatchKeySet state) {
  detail::raw_local_state = detail::RawLocalState::of(state);
}

inline bool tls_is_dispatch_key_included(DispatchKey key) {
  return tls_local_dispatch_key_set().included.has(key);
}

inline bool tls_is_dispatch_key_excluded(DispatchKey key) {
  return tls_local_dispatch_key_set().excluded.has(key);
}

// Changes that last until the next one: for modes that do not last for a block
// of code.
inline void tls_set_dispatch_key_included(DispatchKey key, bool desired) {
  LocalDispatchKeySet state = tls_local_dispatch_key_set();
  state.included =
      desired ? state.included.add(key) : state.included.remove(key);
  force_tls_local_dispatch_key_set(state);
}

inline void tls_set_dispatch_key_excluded(DispatchKey key, bool desired) {
  LocalDispatchKeySet state = tls_local_dispatch_key_set();
  state.excluded =
      desired ? state.excluded.add(key) : state.excluded.remove(key);
  force_tls_local_dispatch_key_set(state);
}

namespace detail {

class SavedLocalState {
 public:
  SavedLocalState() : saved_(raw_local_state) {}
  SavedLocalState(const SavedLocalState&) = delete;
  SavedLocalState& operator=(const SavedLocalState&) = delete;

 protected:
  ~SavedLocalState() {
    raw_local_state = saved_;
  }

 private:
  RawLocalState saved_;
};

} // namespace detail

// Adds keys to the included set.
class IncludeDispatchKeyGuard final : detail::SavedLocalState {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) {
    const LocalDispatchKeySet state = tls_local_dispatch_key_set();
    force_tls_local_dispatch_key_set({state.included | keys, state.excluded});
  }
  explicit IncludeDispatchKeyGuard(DispatchKey key)
      : IncludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~IncludeDispatchKeyGuard() = default;
};

// Adds keys to the excluded set.
class ExcludeDispatchKeyGuard final : detail::SavedLocalState {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) {
    const LocalDispatchKeySet state = tls_local_dispatch_key_set();
    force_tls_local_dispatch_key_set({state.included, state.excluded | keys});
  }
  explicit ExcludeDispatchKeyGuard(DispatchKey key)
      : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard() = default;
};

// Replaces both sets; without arguments it only restores what it found.
class ForceDispatchKeyGuard final : detail::SavedLocalState {
 public:
  ForceDispatchKeyGuard() = default;
  ForceDispatchKeyGuard(DispatchKeySet included, DispatchKeySet excluded) {
    force_tls_local_dispatch_key_set({included, excluded});
  }
  ~ForceDispatchKeyGuard() = default;
};

// Excludes the autograd keys: calls inside run below autograd.
class AutoDispatchBelowAutograd final {
  ExcludeDispatchKeyGuard guard_{autograd_dispatch_keyset};
};

// Excludes the autograd keys and ADInplaceOrView.
class AutoDispatchBelowADInplaceOrView final {
  ExcludeDispatchKeyGuard guard_{autograd_dispatch_keyset_with_ADInplaceOrView};
};

// Excludes Functionalize.
class AutoDispatchSkipFunctionalize final {
  ExcludeDispatchKeyGuard guard_{DispatchKey::Functionalize};
};

// Leaves ADInplaceOrView out of the included keys and excludes autograd;
// InferenceMode(false) goes back to the normal state inside such a region.
class InferenceMode final : detail::SavedLocalState {
 public:
  explicit InferenceMode(bool enabled = true) {
    LocalDispatchKeySet state = tls_local_dispatch_key_set();
    if (enabled) {
      state.included = state.included.remove(DispatchKey::ADInplaceOrView);
      state.excluded = state.excluded | autograd_dispatch_keyset;
    } else {
      state.included = state.included.add(DispatchKey::ADInplaceOrView);
      state.excluded = state.excluded - autograd_dispatch_keyset;
    }
    force_tls_local_dispatch_key_set(state);
  }
  ~InferenceMode() = default;

  static bool is_enabled() {
    return !tls_is_dispatch_key_included(DispatchKey::ADInplaceOrView);
  }
};

} // namespace torchgen_lite
