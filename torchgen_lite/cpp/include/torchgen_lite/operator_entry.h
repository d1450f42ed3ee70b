// OperatorEntry: one operator, its kernels and its computed tables (c10
// OperatorEntry). Dispatcher and OperatorHandle are its public faces.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <torchgen_lite/dispatch_table.h>
#include <torchgen_lite/profiling.h>
#include <torchgen_lite/schema_text.h>
#include <torchgen_lite/table_rules.h>

namespace torchgen_lite {
namespace detail {

// What the operators of a dispatcher share.
struct Registry {
  // Held while registering, undoing or computing a table. Listeners may
  // register operators themselves.
  std::recursive_mutex mutex;
  // By slot; not bound to an operator.
  std::array<std::optional<Kernel>, num_runtime_entries> fallbacks;
  ObserverList observers;

  const std::optional<Kernel>& fallbackOf(int slot) const {
    return fallbacks[static_cast<std::size_t>(slot)];
  }
};

using Lock = std::lock_guard<std::recursive_mutex>;

} // namespace detail

class OperatorEntry final : public detail::CallTarget {
 public:
  OperatorEntry(detail::Registry& registry, std::string full_name)
      : registry_(registry), full_name_(std::move(full_name)) {
    detail::splitName(full_name_, name_, overload_name_);
    special(missing_, detail::KernelKind::Missing);
    special(ambiguous_, detail::KernelKind::Ambiguous);
    special(undefined_, detail::KernelKind::Undefined);
  }
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  const std::string& name() const {
    return name_;
  }
  const std::string& overloadName() const {
    return overload_name_;
  }
  // ns::name.overload
  const std::string& fullName() const {
    return full_name_;
  }
  bool hasSchema() const {
    const detail::Lock lock(registry_.mutex);
    return definition_.has_value();
  }
  // Each throws Error for an operator without a schema.
  std::string schema() const {
    return definition().schema;
  }
  std::vector<std::string> tags() const {
    return definition().tags;
  }
  // How many values a boxed call takes off the stack; -1 if the number varies.
  int argumentCount() const {
    const int count = arguments_.load(std::memory_order_acquire);
    if (count == not_defined) {
      throw Error(undefinedText());
    }
    return count;
  }
  std::string definitionDebug() const {
    const detail::Lock lock(registry_.mutex);
    return definition_.has_value() ? definition_->site.debug() : "";
  }
  // Whether it has neither a schema nor a kernel.
  bool isVacant() const {
    const detail::Lock lock(registry_.mutex);
    return !definition_.has_value() && kernels_.empty();
  }
  detail::Registry& registry() const {
    return registry_;
  }

  // Registration. Dispatcher calls these with its lock held.

  void define(
      std::string schema,
      detail::SchemaFacts facts,
      std::vector<std::string> tags,
      Site site) {
    if (signature_ != nullptr && !is_released_) {
      checkCounts(facts, schema, *signature_);
    }
    arguments_.store(facts.arguments, std::memory_order_release);
    definition_ =
        Definition{std::move(schema), std::move(facts), std::move(tags), site};
    invalidate();
  }

  void undefine() {
    definition_.reset();
    arguments_.store(not_defined, std::memory_order_release);
    invalidate();
    forgetSignature();
  }

  // Throws Error if the kernel's signature differs from the other kernels'.
  const detail::Kernel* addKernel(
      DispatchKey key,
      const KernelFunction& function,
      Site site) {
    detail::Kernel kernel = function.kernel();
    kernel.op = this;
    kernel.key = key;
    kernel.site = site;
    if (kernel.signature != nullptr) {
      adopt(*kernel.signature, site, key);
    }
    const detail::Kernel* added = keep(kernel);
    kernels_[key].push_back(added);
    invalidate();
    return added;
  }

  // Whether it is the newest at its key or shadowed.
  void removeKernel(const detail::Kernel* kernel) {
    const auto found = kernels_.find(kernel->key);
    if (found == kernels_.end()) {
      return;
    }
    std::vector<const detail::Kernel*>& kernels = found->second;
    // keep() gives each registration its own kernel.
    kernels.erase(
        std::remove(kernels.begin(), kernels.end(), kernel),
        kernels.end());
    if (kernels.empty()) {
      kernels_.erase(found);
    }
    invalidate();
    forgetSignature();
  }

  // Called when a typed handle is made: sets the C++ signature of all kernels.
  // Throws Error if existing kernels have another one.
  void requireSignature(const detail::SignatureInfo& wanted) {
    const detail::Lock lock(registry_.mutex);
    if (needsSignature()) {
      const bool stays_released = is_released_ && isVacant();
      take(wanted, "a typed handle");
      is_released_ = stays_released;
    } else if (signature_->id != wanted.id) {
      throwWrongSignature(wanted);
    }
    if (signature_->box == nullptr) {
      signature_ = &wanted;
      invalidate();
    }
    has_handles_ = true;
  }

  // Throws the error of a handle with another signature than the operator's.
  [[noreturn]] void throwWrongSignature(
      const detail::SignatureInfo& wanted) const;

  // Drops the table; the next call makes a new one. See Note [Tables do not
  // change].
  void invalidate() {
    fast.store(nullptr, std::memory_order_release);
    current_.store(nullptr, std::memory_order_release);
  }

  // Sends calls to the slow path, or lets the next one leave it.
  void observersChanged() {
    fast.store(nullptr, std::memory_order_release);
  }

  // Frees replaced tables and kernels. No call may be running.
  void reclaim();

  // The table. While observers are installed, every call comes here.
  TORCHGEN_LITE_COLD const detail::DispatchTable& slowTable() {
    const detail::DispatchTable* table =
        current_.load(std::memory_order_acquire);
    if (table != nullptr && (registry_.observers.any() || is_replaced_)) {
      return *table;
    }
    const detail::Lock lock(registry_.mutex);
    table = current_.load(std::memory_order_acquire);
    if (table == nullptr) {
      table = makeTable();
      current_.store(table, std::memory_order_release);
    }
    if (!registry_.observers.any() && !is_replaced_) {
      fast.store(table, std::memory_order_release);
    }
    return *table;
  }

  const detail::DispatchTable& table() {
    const detail::DispatchTable* table = fast.load(std::memory_order_acquire);
    return table != nullptr ? *table : slowTable();
  }

  // How the table is shown and explained: defined in operator_table.h.

  using Kernels = std::map<DispatchKey, std::vector<const detail::Kernel*>>;

  // Oldest first at each key. Read with the dispatcher's lock held.
  const Kernels& kernels() const {
    return kernels_;
  }
  detail::RegisteredKeys registered() const {
    detail::RegisteredKeys keys;
    for (const auto& [key, kernels] : kernels_) {
      keys.add(key);
    }
    return keys;
  }
  bool hasKernelForDispatchKey(DispatchKey key) const {
    const detail::Lock lock(registry_.mutex);
    return kernels_.count(key) != 0;
  }
  // Whether a kernel is registered at any key of a set; alias keys do not
  // count.
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const {
    const detail::Lock lock(registry_.mutex);
    return registered().hasAny(keys);
  }
  bool hasComputedKernelForDispatchKey(DispatchKey key) {
    const detail::Lock lock(registry_.mutex);
    const detail::Choice choice = choiceOf(slotOf(key), registered());
    return choice.origin != Origin::Missing &&
        choice.origin != Origin::AmbiguousAutogradOther;
  }
  detail::Choice choiceOf(int slot, const detail::RegisteredKeys& keys) const {
    return detail::choose(
        key_tables::runtime_keys[static_cast<std::size_t>(slot)],
        keys,
        registry_.fallbackOf(slot).has_value());
  }

  // The registrations, as torch._C._dispatch_dump prints them.
  std::string dumpState() const;
  // The computed table, as torch._C._dispatch_dump_table prints it.
  std::string dumpComputedTable() const;
  // Throws Error if the table does not match the registrations.
  void checkInvariants();
  // Throws the error of a call that has reached this kernel.
  [[noreturn]] void report(const detail::Kernel& kernel, DispatchKeySet keys)
      const;

 private:
  static constexpr int not_defined = -2;

  struct Definition {
    std::string schema;
    detail::SchemaFacts facts;
    std::vector<std::string> tags;
    Site site;
  };

  Definition definition() const {
    const detail::Lock lock(registry_.mutex);
    if (!definition_.has_value()) {
      throw Error(undefinedText());
    }
    return *definition_;
  }

  std::string undefinedText() const {
    return full_name_ +
        " has no schema: it was never defined, or its definition was undone";
  }

  std::string describe() const {
    return definition_.has_value()
        ? definition_->schema + "\n    " + definition_->site.debug()
        : full_name_;
  }

  void special(detail::Kernel& kernel, detail::KernelKind kind) {
    kernel.op = this;
    kernel.kind = kind;
    kernel.boxed = &detail::reportBoxed;
  }

  // The kernel that the entry keeps: an equal one that was undone, or a new
  // one.
  const detail::Kernel* keep(const detail::Kernel& kernel) {
    // Callables with state are never equal to older ones.
    if (kernel.functor == nullptr || kernel.is_fallback) {
      for (const std::unique_ptr<detail::Kernel>& kept : kept_) {
        if (*kept == kernel && kept->signature == kernel.signature &&
            !isRegistered(*kept)) {
          return kept.get();
        }
      }
    }
    kept_.push_back(std::make_unique<detail::Kernel>(kernel));
    return kept_.back().get();
  }

  bool isRegistered(const detail::Kernel& kernel) const {
    const auto found = kernels_.find(kernel.key);
    return found != kernels_.end() &&
        std::find(found->second.begin(), found->second.end(), &kernel) !=
        found->second.end();
  }

  void adopt(const detail::SignatureInfo& info, Site site, DispatchKey key) {
    std::string debug =
        "kernel for " + std::string(toString(key)) + ", " + site.debug();
    if (needsSignature()) {
      take(info, std::move(debug));
    } else if (signature_->id != info.id) {
      throw Error(
          "Mismatch in kernel C++ signatures\n  operator: " + describe() +
          "\n  kernel 1: " + signature_->id.text() + "\n    " +
          signature_debug_ + "\n  kernel 2: " + info.id.text() + "\n    " +
          debug);
    }
  }

  bool needsSignature() const {
    return signature_ == nullptr || is_released_;
  }

  // Note [Operators that come back]
  // Handles of an operator that was undone keep its signature. If it is defined
  // anew with the same one, they work again. With another one, no call may take
  // the fast path any more, and the slow one compares signatures.
  void take(const detail::SignatureInfo& info, std::string debug) {
    if (definition_.has_value()) {
      checkCounts(definition_->facts, definition_->schema, info);
    }
    if (signature_ == nullptr || signature_->id != info.id) {
      is_replaced_ = is_replaced_ || signature_ != nullptr;
      signature_ = &info;
    }
    signature_debug_ = std::move(debug);
    is_released_ = false;
    invalidate();
  }

  void checkCounts(
      const detail::SchemaFacts& facts,
      const std::string& schema,
      const detail::SignatureInfo& info) const;

  // A removed operator may come back with another signature; see Note
  // [Operators that come back].
  void forgetSignature() {
    if (isVacant()) {
      is_released_ = has_handles_;
      signature_ = has_handles_ ? signature_ : nullptr;
    }
  }

  const detail::DispatchTable* makeTable();
  const detail::Kernel* kernelOf(int slot, const detail::Choice& choice);
  detail::AnyFunction functionOf(const detail::Kernel& kernel) const;

  detail::Registry& registry_;
  std::string full_name_;
  std::string name_;
  std::string overload_name_;
  std::optional<Definition> definition_;
  std::atomic<int> arguments_{not_defined};
  Kernels kernels_;
  const detail::SignatureInfo* signature_ = nullptr;
  std::string signature_debug_;
  bool has_handles_ = false;
  // Whether another signature may take the place of the one that handles have,
  // and whether one has.
  bool is_released_ = false;
  std::atomic<bool> is_replaced_{false};
  detail::Kernel missing_;
  detail::Kernel ambiguous_;
  detail::Kernel undefined_;
  std::atomic<const detail::DispatchTable*> current_{nullptr};
  std::vector<std::unique_ptr<detail::Kernel>> kept_;
  std::vector<std::unique_ptr<detail::DispatchTable>> tables_;
};

} // namespace torchgen_lite
