// The meaning of the numbers in key_tables.h (c10/core/DispatchKey.h).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <torchgen_lite/key_tables.h>

namespace torchgen_lite {

// The name of a key, as PyTorch prints it.
constexpr std::string_view toString(DispatchKey key) {
  return key_tables::names[static_cast<std::size_t>(key)];
}

constexpr std::string_view toString(BackendComponent backend) {
  return key_tables::backend_names[static_cast<std::size_t>(backend)];
}

// Whether each backend has its own instance of this functionality, with its own
// table slot.
constexpr bool isPerBackendFunctionalityKey(DispatchKey key) {
  return key < DispatchKey::EndOfFunctionalityKeys &&
      key_tables::offsets_and_masks[static_cast<std::size_t>(key)].mask != 0;
}

// Whether this key stands for a set of runtime keys.
constexpr bool isAliasDispatchKey(DispatchKey key) {
  return key >= key_tables::first_alias;
}

// The key whose bit this key sets: Sparse of SparseCPU, itself for a
// functionality key, Undefined for aliases. The marker EndOfFunctionalityKeys
// has a bit that not even the full set has.
constexpr DispatchKey toFunctionalityKey(DispatchKey key) {
  if (key <= DispatchKey::EndOfFunctionalityKeys) {
    return key;
  }
  if (isAliasDispatchKey(key)) {
    return DispatchKey::Undefined;
  }
  return key_tables::per_backend[static_cast<std::size_t>(
      (static_cast<int>(key) - key_tables::first_block) / (num_backends + 1))];
}

// The backend of a runtime per-backend key, InvalidBit for any other.
constexpr BackendComponent toBackendComponent(DispatchKey key) {
  if (key <= DispatchKey::EndOfFunctionalityKeys || isAliasDispatchKey(key)) {
    return BackendComponent::InvalidBit;
  }
  return static_cast<BackendComponent>(
      (static_cast<int>(key) - key_tables::first_block) % (num_backends + 1));
}

// The instance of a functionality for a backend: (Sparse, CPUBit) is SparseCPU.
// Undefined for a functionality that is not per backend.
constexpr DispatchKey toRuntimePerBackendFunctionalityKey(
    DispatchKey functionality,
    BackendComponent backend) {
  int start = key_tables::first_block;
  for (const DispatchKey key : key_tables::per_backend) {
    if (key == functionality) {
      return static_cast<DispatchKey>(start + static_cast<int>(backend));
    }
    start += num_backends + 1;
  }
  return DispatchKey::Undefined;
}

namespace key_tables {

constexpr std::array<DispatchKey, num_runtime_entries> make_runtime_keys() {
  std::array<DispatchKey, num_runtime_entries> keys{};
  std::size_t slot = 0;
  for (int value = 0; value < num_functionality_keys; ++value) {
    const DispatchKey key = static_cast<DispatchKey>(value);
    if (!isPerBackendFunctionalityKey(key)) {
      keys[slot++] = key;
      continue;
    }
    for (int backend = 1; backend <= num_backends; ++backend) {
      keys[slot++] = toRuntimePerBackendFunctionalityKey(
          key,
          static_cast<BackendComponent>(backend));
    }
  }
  return keys;
}

// The key of each slot.
inline constexpr std::array<DispatchKey, num_runtime_entries> runtime_keys =
    make_runtime_keys();

} // namespace key_tables

// The slot of a runtime key, -1 for a key without a slot.
constexpr int slotOf(DispatchKey key) {
  if (key == DispatchKey::EndOfFunctionalityKeys || isAliasDispatchKey(key)) {
    return -1;
  }
  const DispatchKey functionality = toFunctionalityKey(key);
  const key_tables::OffsetAndMask row =
      key_tables::offsets_and_masks[static_cast<std::size_t>(functionality)];
  const int offset = static_cast<int>(row.offset);
  if (row.mask == 0) {
    return offset;
  }
  const int backend = static_cast<int>(toBackendComponent(key));
  return backend == 0 ? -1 : offset + backend - 1;
}

// The key of a name, including former names. False for any other name.
inline bool parseDispatchKey(std::string_view name, DispatchKey& key) {
  for (const key_tables::FormerName& former : key_tables::former_names) {
    if (former.name == name) {
      key = former.key;
      return true;
    }
  }
  for (std::size_t value = 0; value < key_tables::names.size(); ++value) {
    if (key_tables::names[value] == name) {
      key = static_cast<DispatchKey>(value);
      return true;
    }
  }
  return false;
}

} // namespace torchgen_lite
