// The computed table of one operator.
//
// Note [Tables do not change]
// A table is made in full, under the dispatcher's lock, by the first call after
// a registration, and published with one pointer. So a call sees one consistent
// state: the mask and the slot that it reads belong together, even if other
// threads register meanwhile. Tables and kernels that have been replaced stay
// allocated, because a call may be running them; one with the same contents is
// used again, so that registering and undoing the same thing repeatedly does
// not leak memory. Dispatcher::reclaim frees them.
//
// Note [One branch]
// A call reads the pointer `fast`. It is null while there is no table yet, while
// an operator has not been looked up yet, and while observers are installed:
// all rare cases are behind one branch, so the profiling hook adds no cost to a
// call.
#pragma once

#include <array>
#include <atomic>

#include <torchgen_lite/kernel_function.h>
#include <torchgen_lite/local_state.h>

namespace torchgen_lite {
namespace detail {

// highestBit for calls. GCC sign-extends the result of its builtin, which costs
// a fifth of a redispatch's instructions.
TORCHGEN_LITE_ALWAYS_INLINE std::size_t indexOfHighestBit(std::uint64_t bits) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__LZCNT__)
  std::size_t index;
  __asm__("bsrq %1, %0" : "=r"(index) : "rm"(bits) : "cc");
  return index;
#else
  return highestBit(bits);
#endif
}

// Note [No branch for fallthrough]
// c10 has one mask of the keys that do not fall through, and an array of them
// for operators where backends differ. The index of the backend is needed for
// the slot in any case, so here every operator has the array: one load, as with
// a single mask, and no branch.
//
// Note [What a call reads]
// A call reads the function of a slot, but not the kernel: functions that need
// the kernel find it in the table, which is passed to them with the keyset. So
// a call reads two cache lines of the table, and none of the kernel.
struct DispatchTable {
  // What runs for each slot. Null while neither the operator nor the kernel has
  // a signature; then there is no typed handle, and it is never called.
  std::array<AnyFunction, num_runtime_entries> functions{};
  // The keys that do not fall through, by the highest backend of a call, with
  // all backend bits.
  std::array<std::uint64_t, num_backends> masks{};
  std::array<const Kernel*, num_runtime_entries> kernels{};
  // What the functions are called as.
  const SignatureInfo* signature = nullptr;

  // The slot for a call with arguments of these keys, and its keyset:
  // ((arguments | included) - excluded) & mask, where subtraction keeps the
  // backend bits.
  TORCHGEN_LITE_ALWAYS_INLINE AnyFunction
  find(std::uint64_t bits, DispatchKeySet& keys) const {
    bits = (bits | raw_local_state.included) & raw_local_state.kept;
    const std::size_t backend = backendOf(bits);
    bits &= masks.data()[backend];
    keys = DispatchKeySet::from_raw_repr(bits);
    return functions.data()[slotOf(bits, backend)];
  }

  TORCHGEN_LITE_ALWAYS_INLINE AnyFunction
  functionFor(DispatchKeySet keys) const {
    const std::uint64_t bits = keys.raw_repr();
    return functions.data()[slotOf(bits, backendOf(bits))];
  }

  const Kernel& kernelFor(DispatchKeySet keys) const {
    return *kernels[keys.getDispatchTableIndexForDispatchKeySet()];
  }

  bool operator==(const DispatchTable& other) const {
    return functions == other.functions && masks == other.masks &&
        kernels == other.kernels && signature == other.signature;
  }

 private:
  TORCHGEN_LITE_ALWAYS_INLINE static std::size_t backendOf(std::uint64_t bits) {
    return indexOfHighestBit((bits & backend_mask) | 1);
  }
  // As getDispatchTableIndexForDispatchKeySet computes it.
  TORCHGEN_LITE_ALWAYS_INLINE static std::size_t slotOf(
      std::uint64_t bits,
      std::size_t backend) {
    const key_tables::OffsetAndMask& row =
        slot_rows.data()[indexOfHighestBit(bits | 1)];
    return row.offset + (static_cast<std::uint32_t>(backend) & row.mask);
  }
};

inline const Kernel& kernelOf(const DispatchTable& table, DispatchKeySet keys) {
  return table.kernelFor(keys);
}

// The part of an operator that a call reads. A handle whose operator has not
// been looked up yet points to one without a table.
struct CallTarget {
  std::atomic<const DispatchTable*> fast{nullptr};
};

inline CallTarget not_looked_up;

} // namespace detail
} // namespace torchgen_lite
