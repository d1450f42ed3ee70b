// Handles to operators, and the calls.
#pragma once

#include <torchgen_lite/operator_table.h>

namespace torchgen_lite {

template <class Signature>
class TypedOperatorHandle;
template <class Signature>
class StaticOperatorHandle;

// An operator of a dispatcher. It stays valid as long as the dispatcher; calls
// of an operator whose definition was undone throw an error, and so do those of
// a typed handle if it was then defined anew with another signature.
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

  // The handle for calls with C++ arguments. Throws Error if kernels or other
  // handles have another signature, or the schema has another number of
  // arguments or results.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const;

  // Takes the operator's arguments off the end of a stack and pushes its
  // results. Generators carry no keys here, as in c10.
  void callBoxed(Stack& stack) const {
    std::uint64_t bits = 0;
    for (std::size_t i = stack.size() - argumentsOn(stack); i < stack.size();
         ++i) {
      bits |= stack[i].keyset().raw_repr();
    }
    const detail::DispatchTable& table = entry_->table();
    DispatchKeySet keys;
    table.find(bits, keys);
    run(table, keys, stack, "callBoxed");
  }

  // The same on the given keyset: ignores arguments, local state and mask.
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
          " arguments, but the stack has " + std::to_string(stack.size()));
    }
    return count < 0 ? stack.size() : static_cast<std::size_t>(count);
  }

  static void run(
      const detail::DispatchTable& table,
      DispatchKeySet keys,
      Stack& stack,
      const char* how);

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
  TORCHGEN_LITE_COLD SlowCall(
      OperatorEntry& entry,
      const SignatureInfo& signature,
      DispatchKeySet keys,
      bool is_redispatch)
      : table_(entry.slowTable()), keys_(keys) {
    if (table_.signature->id != signature.id) {
      entry.throwWrongSignature(signature);
    }
    if (!is_redispatch) {
      table_.find(keys.raw_repr(), keys_);
    }
    const Kernel& kernel = table_.kernelFor(keys_);
    if (auto observers = observersOf(kernel)) {
      observation_.emplace(
          std::move(observers),
          recordOf(kernel, keys_, is_redispatch ? "redispatch" : "call"));
    }
  }
  TORCHGEN_LITE_COLD ~SlowCall() {}
  SlowCall(const SlowCall&) = delete;
  SlowCall& operator=(const SlowCall&) = delete;

  const DispatchTable& table() const {
    return table_;
  }
  DispatchKeySet keys() const {
    return keys_;
  }

 private:
  const DispatchTable& table_;
  DispatchKeySet keys_;
  std::optional<Observation> observation_;
};

template <class R, class... Args>
TORCHGEN_LITE_ALWAYS_INLINE R redispatch(
    const DispatchTable& table,
    DispatchKeySet keys,
    Args&&... arguments) {
  return reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
      table.functionFor(keys))(keys, std::forward<Args>(arguments)..., table);
}

template <class R, class... Args>
TORCHGEN_LITE_ALWAYS_INLINE R
call(const DispatchTable& table, Args&&... arguments) {
  DispatchKeySet keys;
  const AnyFunction function = table.find(bitsOfArguments(arguments...), keys);
  return reinterpret_cast<typename UnboxedFunction<R(Args...)>::Type>(
      function)(keys, std::forward<Args>(arguments)..., table);
}

// Members of a typed handle; a static handle looks them up itself.
inline OperatorEntry& entryOf(OperatorEntry& entry, const SignatureInfo&) {
  return entry;
}

// The slow side of the branch, for both calls and redispatches. Arguments are
// passed as the operator takes them: the address of one would keep it in memory
// on the fast path, too.
template <class Op, class R, class... Args>
TORCHGEN_LITE_COLD R
runSlowly(DispatchKeySet keys, Args... arguments, Op& op, bool is_redispatch) {
  const SignatureInfo& signature = SignatureInfo::ofCalls<R(Args...)>();
  OperatorEntry& entry = entryOf(op, signature);
  if (!is_redispatch) {
    keys = DispatchKeySet::from_raw_repr(bitsOfArguments(arguments...));
  }
  const SlowCall call(entry, signature, keys, is_redispatch);
  return redispatch<R, Args...>(
      call.table(),
      call.keys(),
      std::forward<Args>(arguments)...);
}

inline void report(const Kernel& kernel, DispatchKeySet keys) {
  kernel.op->report(kernel, keys);
}

inline void reportBoxed(
    const DispatchTable& table,
    DispatchKeySet keys,
    Stack&) {
  report(table.kernelFor(keys), keys);
}

inline void callBoxedCode(
    const DispatchTable& table,
    DispatchKeySet keys,
    Stack& stack) {
  const Kernel& kernel = table.kernelFor(keys);
  reinterpret_cast<BoxedPointer>(
      kernel.code)(OperatorHandle(*kernel.op), keys, stack);
}

template <class F>
void callBoxedFunctor(
    const DispatchTable& table,
    DispatchKeySet keys,
    Stack& stack) {
  const Kernel& kernel = table.kernelFor(keys);
  (*static_cast<F*>(
      kernel.functor.get()))(OperatorHandle(*kernel.op), keys, stack);
}

inline BoxedCall::BoxedCall(
    const DispatchTable& table,
    DispatchKeySet keys,
    const Boxer* boxers,
    void* const* arguments,
    std::size_t count,
    int returns) {
  stack_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    stack_.push_back(boxers[i](arguments[i]));
  }
  const Kernel& kernel = table.kernelFor(keys);
  kernel.boxed(table, keys, stack_);
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
    const char* how) {
  const detail::Kernel& kernel = table.kernelFor(keys);
  if (auto observers = detail::observersOf(kernel)) {
    const detail::Observation observation(
        std::move(observers),
        detail::recordOf(kernel, keys, how));
    kernel.boxed(table, keys, stack);
    return;
  }
  kernel.boxed(table, keys, stack);
}

// Calls with C++ arguments.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final {
 public:
  // Runs the kernel of the highest key in the arguments and the local state.
  // Throws MissingKernelError or AmbiguousKernelError if there is no kernel.
  TORCHGEN_LITE_ALWAYS_INLINE R call(Args... arguments) const {
    const detail::DispatchTable* table =
        entry_->fast.load(std::memory_order_acquire);
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return detail::runSlowly<OperatorEntry, R, Args...>(
          DispatchKeySet(),
          std::forward<Args>(arguments)...,
          *entry_,
          false);
    }
    return detail::call<R, Args...>(*table, std::forward<Args>(arguments)...);
  }

  // Runs the kernel of the keyset's highest key; ignores arguments, local state
  // and mask.
  TORCHGEN_LITE_ALWAYS_INLINE R
  redispatch(DispatchKeySet keys, Args... arguments) const {
    const detail::DispatchTable* table =
        entry_->fast.load(std::memory_order_acquire);
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return detail::runSlowly<OperatorEntry, R, Args...>(
          keys,
          std::forward<Args>(arguments)...,
          *entry_,
          true);
    }
    return detail::redispatch<R, Args...>(
        *table,
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

  OperatorEntry* entry_;
};

template <class Signature>
TypedOperatorHandle<Signature> OperatorHandle::typed() const {
  entry_->requireSignature(detail::SignatureInfo::ofCalls<Signature>());
  return TypedOperatorHandle<Signature>(*entry_);
}

} // namespace torchgen_lite
