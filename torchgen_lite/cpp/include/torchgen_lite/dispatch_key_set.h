// DispatchKeySet: a 64-bit set of backends and functionalities
// (c10/core/DispatchKeySet.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include <torchgen_lite/dispatch_key.h>
#include <torchgen_lite/macros.h>

namespace torchgen_lite {
namespace detail {

inline constexpr std::uint64_t backend_mask =
    (std::uint64_t{1} << num_backends) - 1;
inline constexpr std::uint64_t full_mask =
    (std::uint64_t{1} << (num_backends + num_functionality_keys - 1)) - 1;

// The index of the highest bit of a number that is not zero.
constexpr std::size_t highestBit(std::uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<std::size_t>(63 ^ __builtin_clzll(bits));
#else
  std::size_t index = 0;
  for (std::size_t step = 32; step != 0; step /= 2) {
    if (bits >> step != 0) {
      bits >>= step;
      index += step;
    }
  }
  return index;
#endif
}

constexpr std::uint64_t functionalityBit(DispatchKey functionality) {
  return functionality == DispatchKey::Undefined ? 0
                                                 : std::uint64_t{1}
          << (num_backends + static_cast<int>(functionality) - 1);
}

constexpr std::uint64_t backendBit(BackendComponent backend) {
  return backend == BackendComponent::InvalidBit
      ? 0
      : std::uint64_t{1} << (static_cast<int>(backend) - 1);
}

constexpr std::uint64_t bitsOf(DispatchKey key) {
  return functionalityBit(toFunctionalityKey(key)) |
      backendBit(toBackendComponent(key));
}

constexpr std::uint64_t perBackendMask() {
  std::uint64_t mask = 0;
  for (const DispatchKey key : key_tables::per_backend) {
    mask |= functionalityBit(key);
  }
  return mask;
}

// For each highest bit of a set the first slot of its functionality, and the
// bits of a backend's index that choose among its slots: all or none.
constexpr std::array<key_tables::OffsetAndMask, 64> makeSlotRows() {
  std::array<key_tables::OffsetAndMask, 64> rows{};
  for (std::size_t value = 1; value < num_functionality_keys; ++value) {
    rows[num_backends + value - 1] = key_tables::offsets_and_masks[value];
  }
  return rows;
}

inline constexpr std::array<key_tables::OffsetAndMask, 64> slot_rows =
    makeSlotRows();

} // namespace detail

// Bits 0..15 are backends, bit 16 + k - 1 is the functionality of value k. A
// set of a per-backend functionality and several backends is their cross
// product. Alias keys are in no set.
class DispatchKeySet final {
 public:
  class iterator;

  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key)
      : bits_(detail::bitsOf(key)) {}
  constexpr explicit DispatchKeySet(BackendComponent backend)
      : bits_(detail::backendBit(backend)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) {
      bits_ |= detail::bitsOf(key);
    }
  }

  static constexpr DispatchKeySet from_raw_repr(std::uint64_t bits) {
    DispatchKeySet set;
    set.bits_ = bits;
    return set;
  }

  // Every backend and every functionality.
  static constexpr DispatchKeySet full() {
    return from_raw_repr(detail::full_mask);
  }

  // All keys of lower priority than the functionality of `key`, plus
  // PythonDispatcher, which intercepts a call at any key.
  static constexpr DispatchKeySet full_after(DispatchKey key) {
    const std::uint64_t bit = detail::functionalityBit(toFunctionalityKey(key));
    return from_raw_repr(
        (bit == 0 ? 0 : bit - 1) |
        detail::functionalityBit(DispatchKey::PythonDispatcher));
  }

  constexpr std::uint64_t raw_repr() const {
    return bits_;
  }

  constexpr bool empty() const {
    return bits_ == 0;
  }

  // Whether both the functionality and the backend of `key` are here. A key
  // that owns no bit (Undefined, an alias) is in every set, as in c10: ask
  // isIncludedInAlias about aliases.
  constexpr bool has(DispatchKey key) const {
    const std::uint64_t bits = detail::bitsOf(key);
    return (bits_ & bits) == bits;
  }

  constexpr bool has_backend(BackendComponent backend) const {
    const std::uint64_t bits = detail::backendBit(backend);
    return (bits_ & bits) == bits;
  }

  // Whether every bit of `other` is here.
  constexpr bool has_all(DispatchKeySet other) const {
    return (bits_ & other.bits_) == other.bits_;
  }

  constexpr bool isSupersetOf(DispatchKeySet other) const {
    return has_all(other);
  }

  // Whether some bit of `other` is here. Backends together with per-backend
  // functionalities would give the question two meanings; throws
  // std::invalid_argument for them.
  constexpr bool has_any(DispatchKeySet other) const {
    if ((other.bits_ & detail::backend_mask) != 0 &&
        (other.bits_ & detail::perBackendMask()) != 0) {
      throw std::invalid_argument(
          "has_any of backends and per-backend functionalities together");
    }
    return (bits_ & other.bits_) != 0;
  }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return from_raw_repr(bits_ | other.bits_);
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return from_raw_repr(bits_ & other.bits_);
  }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const {
    return from_raw_repr(bits_ ^ other.bits_);
  }
  // Without the functionalities of `other`. A backend stays, because any other
  // functionality may still need it.
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return from_raw_repr(bits_ & ~(other.bits_ & ~detail::backend_mask));
  }
  constexpr bool operator==(DispatchKeySet other) const {
    return bits_ == other.bits_;
  }
  constexpr bool operator!=(DispatchKeySet other) const {
    return bits_ != other.bits_;
  }

  constexpr DispatchKeySet add(DispatchKey key) const {
    return *this | DispatchKeySet(key);
  }
  constexpr DispatchKeySet remove(DispatchKey key) const {
    return *this - DispatchKeySet(key);
  }
  constexpr DispatchKeySet remove_backend(BackendComponent backend) const {
    return from_raw_repr(bits_ & ~detail::backendBit(backend));
  }

  // The functionality of highest priority, Undefined if there is none.
  constexpr DispatchKey highestFunctionalityKey() const {
    return static_cast<DispatchKey>(
        detail::highestBit((bits_ >> (num_backends - 1)) | 1));
  }

  constexpr BackendComponent highestBackendKey() const {
    return static_cast<BackendComponent>(
        detail::highestBit(((bits_ & detail::backend_mask) << 1) | 1));
  }

  // The runtime key that a call with this set dispatches to.
  constexpr DispatchKey highestPriorityTypeId() const {
    const DispatchKey functionality = highestFunctionalityKey();
    return isPerBackendFunctionalityKey(functionality)
        ? toRuntimePerBackendFunctionalityKey(
              functionality,
              highestBackendKey())
        : functionality;
  }

  // Which of the per-backend masks belongs to this set: the one of the highest
  // backend, or the first one if there is no backend.
  constexpr std::size_t getBackendIndex() const {
    return detail::highestBit((bits_ & detail::backend_mask) | 1);
  }

  // The slot that a call with this set runs. Nothing set and the lowest backend
  // have the same index, so no case needs a branch.
  constexpr std::size_t getDispatchTableIndexForDispatchKeySet() const {
    const key_tables::OffsetAndMask& row =
        detail::slot_rows[detail::highestBit(bits_ | 1)];
    return row.offset + (getBackendIndex() & row.mask);
  }

  // Runtime keys in ascending order of functionality, then backend. A
  // per-backend functionality without any backend yields nothing.
  constexpr iterator begin() const;
  constexpr iterator end() const;

 private:
  std::uint64_t bits_ = 0;
};

class DispatchKeySet::iterator final {
 public:
  using value_type = DispatchKey;
  using reference = DispatchKey;
  using pointer = const DispatchKey*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  constexpr iterator(std::uint64_t bits, int slot) : bits_(bits), slot_(slot) {
    settle();
  }

  constexpr DispatchKey operator*() const {
    return key_tables::runtime_keys[static_cast<std::size_t>(slot_)];
  }
  constexpr iterator& operator++() {
    ++slot_;
    settle();
    return *this;
  }
  constexpr iterator operator++(int) {
    const iterator before = *this;
    ++*this;
    return before;
  }
  constexpr bool operator==(const iterator& other) const {
    return bits_ == other.bits_ && slot_ == other.slot_;
  }
  constexpr bool operator!=(const iterator& other) const {
    return !(*this == other);
  }

 private:
  // By its bits, Undefined (slot 0) is in every set; it is a member of none.
  constexpr void settle() {
    while (slot_ < num_runtime_entries &&
           (slot_ == 0 || !DispatchKeySet::from_raw_repr(bits_).has(**this))) {
      ++slot_;
    }
  }

  std::uint64_t bits_;
  int slot_;
};

constexpr DispatchKeySet::iterator DispatchKeySet::begin() const {
  return iterator(bits_, 0);
}

constexpr DispatchKeySet::iterator DispatchKeySet::end() const {
  return iterator(bits_, num_runtime_entries);
}

// DispatchKeySet(CPU, AutogradCPU), in ascending order.
inline std::string toString(DispatchKeySet keys) {
  std::string text = "DispatchKeySet(";
  const char* separator = "";
  for (const DispatchKey key : keys) {
    text += separator;
    text += toString(key);
    separator = ", ";
  }
  return text + ")";
}

} // namespace torchgen_lite
