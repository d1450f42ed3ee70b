// Handles to operators, and the calls.
#pragma once

#include <torchgen_lite/operator_table.h>

namespace torchgen_lite {

template <class Signature>
class TypedOperatorHandle;
template <class Signature>
class StaticOperatorHandle;

// An operator of a dispatcher. It stays valid as long as the dispatcher; calls
// of an operator whose definition was undone say so.
class OperatorHandle final {
 public:
  explicit OperatorHandle(OperatorEntry& entry) : entry_(&entry) {}

  const std::string& name() const {
    return entry_->name();
  }
  const std::string& overloadName() const {
    return entry_->overloadName();
  }
  const std::string& fullName() const {
    return entry_->fullName();
  }
  bool hasSchema() const {
    return entry_->hasSchema();
  }
  std::string schema() const {
    return entry_->schema();
  }
  std::vector<std::string> tags() const {
    return entry_->tags();
  }
  bool hasTag(std::string_view tag) const {
    for (const std::string& each : entry_->tags()) {
      if (each == tag) {
        return true;
      }
    }
    return false;
  }
  std::string dumpState() const {
    return entry_->dumpState();
  }
  std::string dumpComputedTable() const {
    return entry_->dumpComputedTable();
  }
  bool hasKernelForDispatchKey(DispatchKey key) const {
    return entry_->hasKernelForDispatchKey(key);
  }
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const {
    return entry_->hasKernelForAnyDispatchKey(keys);
  }
  bool hasComputedKernelForDispatchKey(DispatchKey key) const {
    return entry_->hasComputedKernelForDispatchKey(key);
  }

  // The handle for calls with C++ arguments. Throws Error where kernels or
  // other handles have another signature, or the schema another number of
  // arguments or results.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const;

  // Takes the operator's arguments off the end of a stack and pushes its
  // results. Generators carry no keys here, as in c10.
  void callBoxed(Stack& stack) const {
    const detail::DispatchTable& table = entry_->table();
    std::uint64_t bits = 0;
    for (std::size_t i = stack.size() - argumentsOn(stack); i < stack.size();
         ++i) {
      bits |= stack[i].keyset().raw_repr();
    }
    run(table, table.computeDispatchKeySet(bits), stack, "callBoxed");
  }

  // The same on the keyset given, without arguments' keys, local state or mask.
  void redispatchBoxed(DispatchKeySet keys, Stack& stack) const {
    argumentsOn(stack);
    run(entry_->table(), keys, stack, "redispatchBoxed");
  }

  OperatorEntry& entry() const {
    return *entry_;
  }
  bool operator==(const OperatorHandle& other) const {
    return entry_ == other.entry_;
  }
  bool operator!=(const OperatorHandle& other) const {
    return entry_ != other.entry_;
  }

 private:
  std::size_t argumentsOn(const Stack& stack) const {
    const int count = entry_->argumentCount();
    if (count >= 0 && stack.size() < static_cast<std::size_t>(count)) {
      throw Error(
          fullName() + " takes " + std::to_string(count) +
          " arguments, the stack has " + std::to_string(stack.size()));
    }
    return count < 0 ? stack.size() : static_cast<std::size_t>(count);
  }

  void run(
      const detail::DispatchTable& table,
      DispatchKeySet keys,
      Stack& stack,
      const char* how) const;

  OperatorEntry* entry_;
};

namespace detail {

inline CallRecord recordOf(
    const Kernel& kernel,
    DispatchKeySet keys,
    const char* how) {
  return {
      *kernel.op,
      kernel.op->fullName(),
      keys,
      keys.highestPriorityTypeId(),
      how,
      kernel.is_fallback,
      kernel.site};
}

// Null while there are no observers.
inline std::shared_ptr<const Observers> observersOf(const Kernel& kernel) {
  ObserverList& list = kernel.op->registry().observers;
  return list.any() ? list.get() : nullptr;
}

// One call that is not on the fast path: its table, and the observers around
// it.
class SlowCall final {
 public:
  // `keys` of a redispatch, null for a call of arguments with these bits.
  TORCHGEN_LITE_COLD SlowCall(
      OperatorEntry& entry,
      const DispatchKeySet* keys,
      std::uint64_t bits) {
    const DispatchTable& table = entry.slowTable();
    keys_ = keys != nullptr ? *keys : table.computeDispatchKeySet(bits);
    slot_ = &table.slotFor(keys_);
    const Kernel& kernel = *slot_->kernel;
    if (auto observers = observersOf(kernel)) {
      observation_.emplace(
          std::move(observers),
          recordOf(kernel, keys_, keys != nullptr ? "redispatch" : "call"));
    }
  }
  TORCHGEN_LITE_COLD ~SlowCall() {}
  SlowCall(const SlowCall&) = delete;
  SlowCall& operator=(const SlowCall&) = delete;

  const Slot& slot() const {
    return *slot_;
  }
  DispatchKeySet keys() const {
    return keys_;
  }

 private:
  DispatchKeySet keys_;
  const Slot* slot_;
  std::optional<Observation> observation_;
};

template <class R, class... Args>
TORCHGEN_LITE_ALWAYS_INLINE R
run(const Slot& slot, DispatchKeySet keys, Args&&... arguments) {
  return reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
      slot.function)(*slot.kernel, keys, std::forward<Args>(arguments)...);
}

inline void report(const Kernel& kernel, DispatchKeySet keys) {
  kernel.op->report(kernel, keys);
}

inline void reportBoxed(const Kernel& kernel, DispatchKeySet keys, Stack&) {
  kernel.op->report(kernel, keys);
}

inline void callBoxedCode(
    const Kernel& kernel,
    DispatchKeySet keys,
    Stack& stack) {
  reinterpret_cast<BoxedPointer>(
      kernel.code)(OperatorHandle(*kernel.op), keys, stack);
}

template <class F>
void callBoxedFunctor(const Kernel& kernel, DispatchKeySet keys, Stack& stack) {
  (*static_cast<F*>(
      kernel.functor.get()))(OperatorHandle(*kernel.op), keys, stack);
}

inline BoxedCall::BoxedCall(
    const Kernel& kernel,
    DispatchKeySet keys,
    const ArgumentType* types,
    void* const* arguments,
    std::size_t count,
    int returns) {
  stack_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    stack_.push_back(types[i].box(arguments[i]));
  }
  kernel.boxed(kernel, keys, stack_);
  if (stack_.size() != static_cast<std::size_t>(returns)) {
    throw Error(
        "a boxed kernel of " + kernel.op->fullName() + " left " +
        std::to_string(stack_.size()) + " values on the stack, not " +
        std::to_string(returns));
  }
}

} // namespace detail

inline void OperatorHandle::run(
    const detail::DispatchTable& table,
    DispatchKeySet keys,
    Stack& stack,
    const char* how) const {
  const detail::Kernel& kernel = *table.slotFor(keys).kernel;
  if (auto observers = detail::observersOf(kernel)) {
    const detail::Observation observation(
        std::move(observers),
        detail::recordOf(kernel, keys, how));
    kernel.boxed(kernel, keys, stack);
    return;
  }
  kernel.boxed(kernel, keys, stack);
}

// Calls with C++ arguments.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final {
 public:
  // Runs the kernel of the highest key among those of the arguments and the
  // local state. Throws MissingKernelError or AmbiguousKernelError where none
  // serves.
  TORCHGEN_LITE_ALWAYS_INLINE R call(Args... arguments) const {
    const detail::DispatchTable* table =
        entry_->fast.load(std::memory_order_acquire);
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return runSlowly(*entry_, nullptr, std::forward<Args>(arguments)...);
    }
    return dispatch(*table, std::forward<Args>(arguments)...);
  }

  // Runs the kernel of the keyset's highest key: no argument, local state or
  // mask is looked at.
  TORCHGEN_LITE_ALWAYS_INLINE R
  redispatch(DispatchKeySet keys, Args... arguments) const {
    const detail::DispatchTable* table =
        entry_->fast.load(std::memory_order_acquire);
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return runSlowly(*entry_, &keys, std::forward<Args>(arguments)...);
    }
    return detail::run<R, Args...>(
        table->slotFor(keys),
        keys,
        std::forward<Args>(arguments)...);
  }

  OperatorHandle handle() const {
    return OperatorHandle(*entry_);
  }

 private:
  friend class OperatorHandle;
  template <class Signature>
  friend class StaticOperatorHandle;

  explicit TypedOperatorHandle(OperatorEntry& entry) : entry_(&entry) {}

  TORCHGEN_LITE_ALWAYS_INLINE static R dispatch(
      const detail::DispatchTable& table,
      Args&&... arguments) {
    const DispatchKeySet keys =
        table.computeDispatchKeySet(detail::bitsOfArguments(arguments...));
    return detail::run<R, Args...>(
        table.slotFor(keys),
        keys,
        std::forward<Args>(arguments)...);
  }

  // `keys` is null for a call.
  TORCHGEN_LITE_COLD static R runSlowly(
      OperatorEntry& entry,
      const DispatchKeySet* keys,
      Args&&... arguments) {
    const detail::SlowCall call(
        entry,
        keys,
        detail::bitsOfArguments(arguments...));
    return detail::run<R, Args...>(
        call.slot(),
        call.keys(),
        std::forward<Args>(arguments)...);
  }

  OperatorEntry* entry_;
};

template <class Signature>
TypedOperatorHandle<Signature> OperatorHandle::typed() const {
  entry_->requireSignature(detail::SignatureInfo::of<Signature>());
  return TypedOperatorHandle<Signature>(*entry_);
}

} // namespace torchgen_lite
