// The computed table of one operator.
//
// Note [Tables do not change]
// A table is made in full, under the dispatcher's lock, by the first call after
// a registration, and published with one pointer. So a call sees one state of
// affairs: the mask and the slot that it reads belong together, whatever
// threads register meanwhile. Tables and kernels that have been replaced stay
// allocated, because a call may be running them; one with the same contents is
// taken up again, so that registering and undoing the same thing for ever needs
// no memory. Dispatcher::reclaim frees them.
//
// Note [One branch]
// A call reads the pointer `fast`. It is null while there is no table yet, while
// an operator is not looked up yet, and while observers are installed: all that
// is rare is behind one branch, so the profiling hook costs a call nothing that
// it does not pay already.
#pragma once

#include <array>
#include <atomic>

#include <torchgen_lite/kernel_function.h>
#include <torchgen_lite/local_state.h>

namespace torchgen_lite {
namespace detail {

// A function that takes the kernel, the keyset and the arguments.
struct Slot {
  AnyFunction function;
  const Kernel* kernel;
};

struct DispatchTable {
  // The keys that do not fall through, 0 if that is not the same for every
  // backend. It always has the backend bits otherwise.
  std::uint64_t mask = 0;
  std::array<std::uint64_t, num_backends> backend_masks{};
  std::array<Slot, num_runtime_entries> slots{};

  // The keyset of a call: ((arguments | included) - excluded) & mask, where
  // subtraction spares the backend bits.
  TORCHGEN_LITE_ALWAYS_INLINE DispatchKeySet
  computeDispatchKeySet(std::uint64_t bits) const {
    const LocalDispatchKeySet state = tls_local_dispatch_key_set();
    bits = (bits | state.included.raw_repr()) &
        (~state.excluded.raw_repr() | backend_mask);
    std::uint64_t kept = mask;
    if (TORCHGEN_LITE_UNLIKELY(kept == 0)) {
      kept =
          backend_masks[DispatchKeySet::from_raw_repr(bits).getBackendIndex()];
    }
    return DispatchKeySet::from_raw_repr(bits & kept);
  }

  TORCHGEN_LITE_ALWAYS_INLINE const Slot& slotFor(DispatchKeySet keys) const {
    return slots[keys.getDispatchTableIndexForDispatchKeySet()];
  }

  bool operator==(const DispatchTable& other) const {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].function != other.slots[i].function ||
          slots[i].kernel != other.slots[i].kernel) {
        return false;
      }
    }
    return mask == other.mask && backend_masks == other.backend_masks;
  }
};

// What a call reads of an operator. A handle whose operator is not looked up
// yet points to one without a table.
struct CallTarget {
  std::atomic<const DispatchTable*> fast{nullptr};
};

inline CallTarget not_looked_up;

} // namespace detail
} // namespace torchgen_lite
