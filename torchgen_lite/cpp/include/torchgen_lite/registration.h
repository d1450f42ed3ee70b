// The registering half of Dispatcher, which includes this.
#pragma once

#include <torchgen_lite/dispatcher.h>

namespace torchgen_lite {
namespace detail {

// Overriding a kernel warns once per process, as in c10. Null for no warning.
using WarningHandler = void (*)(const std::string& text);

TORCHGEN_LITE_API inline std::atomic<WarningHandler> warning_handler{
    [](const std::string& text) {
      std::fprintf(stderr, "Warning: %s\n", text.c_str());
    }};
TORCHGEN_LITE_API inline std::atomic<bool> warned_of_override{false};

inline void warnOfOverride(
    const OperatorEntry& entry,
    const Kernel& before,
    DispatchKey key,
    Site site) {
  // Meta and MTIA kernels are overridden on purpose.
  if (key == DispatchKey::Meta || key == DispatchKey::MTIA ||
      warned_of_override.exchange(true)) {
    return;
  }
  if (const WarningHandler handler = warning_handler.load()) {
    handler(
        "Warning only once for all operators,  other operators may also be "
        "overridden.\n  Overriding a previously registered kernel for the same "
        "operator and the same dispatch key\n  operator: " +
        entry.fullName() + "\n    " + entry.definitionDebug() +
        "\n  dispatch key: " + std::string(toString(key)) +
        "\n  previous kernel: " + before.site.debug() +
        "\n       new kernel: " + site.debug());
  }
}

} // namespace detail

// Where warnings go; initially to stderr.
inline void setWarningHandler(detail::WarningHandler handler) {
  detail::warning_handler.store(handler);
}

inline void RegistrationHandle::undo() {
  if (what_ != What::Nothing) {
    dispatcher_->undo(*this);
    what_ = What::Nothing;
  }
}

inline RegistrationHandle Dispatcher::registerLibrary(
    std::string ns,
    std::string debug) {
  const detail::Lock lock(registry_.mutex);
  const auto [found, added] = libraries_.emplace(ns, debug);
  if (!added) {
    throw Error(
        "Only a single TORCHGEN_LITE_LIBRARY can be used to register the "
        "namespace " +
        ns +
        "; please put all of your definitions in a single "
        "TORCHGEN_LITE_LIBRARY block.  If you were trying to specify "
        "implementations, consider using TORCHGEN_LITE_LIBRARY_IMPL (which can "
        "be duplicated).  If you really intended to define operators for a "
        "single namespace in a distributed way, you can use "
        "TORCHGEN_LITE_LIBRARY_FRAGMENT to explicitly indicate this.  Previous "
        "registration of TORCHGEN_LITE_LIBRARY was " +
        found->second + "; latest registration was " + debug);
  }
  return handleOf(What::Library, nullptr, nullptr, std::move(ns));
}

inline RegistrationHandle Dispatcher::registerDef(
    std::string schema,
    std::vector<std::string> tags,
    Site site) {
  detail::SchemaFacts facts = detail::readSchema(schema);
  const detail::Lock lock(registry_.mutex);
  OperatorEntry& entry = entryOf(joined(facts.name, facts.overload_name));
  if (entry.hasSchema()) {
    throw Error(
        "Tried to register an operator (" + schema +
        ") with the same name and overload name multiple times. Each "
        "overload's schema should only be registered with a single call to "
        "def(). Duplicate registration: " +
        site.debug() + ". Original registration: " + entry.definitionDebug());
  }
  entry.define(std::move(schema), std::move(facts), std::move(tags), site);
  RegistrationHandle handle = handleOf(What::Def, &entry, nullptr);
  const OperatorHandle op(entry);
  // A copy: they may add others.
  const std::vector<RegistrationListener*> listeners = listeners_;
  for (RegistrationListener* listener : listeners) {
    listener->onOperatorRegistered(op);
  }
  return handle;
}

inline RegistrationHandle Dispatcher::registerImpl(
    const std::string& full_name,
    DispatchKey key,
    const KernelFunction& function,
    Site site) {
  detail::checkOperatorName(full_name);
  if (key == DispatchKey::Undefined) {
    key = DispatchKey::CompositeImplicitAutograd;
  }
  if (slotOf(key) < 0 && !isAliasDispatchKey(key)) {
    throw Error(
        std::string(toString(key)) +
        " is neither a runtime key nor an alias key, so no kernel can be "
        "registered at it");
  }
  const detail::Lock lock(registry_.mutex);
  OperatorEntry& entry = entryOf(full_name);
  const auto before = entry.kernels().find(key);
  const detail::Kernel* shadowed =
      before == entry.kernels().end() ? nullptr : before->second.back();
  const detail::Kernel* kernel = entry.addKernel(key, function, site);
  RegistrationHandle handle = handleOf(What::Impl, &entry, kernel);
  if (shadowed != nullptr) {
    detail::warnOfOverride(entry, *shadowed, key, site);
  }
  return handle;
}

inline RegistrationHandle Dispatcher::registerFallback(
    DispatchKey key,
    const KernelFunction& function,
    Site site) {
  const int slot = slotOf(key);
  if (slot <= 0) {
    throw Error(
        "a fallback needs a runtime key, but " + std::string(toString(key)) +
        (isAliasDispatchKey(key) ? " is an alias key" : " is not one"));
  }
  if (function.isValidUnboxed()) {
    throw Error(
        "a fallback serves operators of every signature, so it is boxed(f) or "
        "fallthrough(); " +
        site.debug());
  }
  const detail::Lock lock(registry_.mutex);
  std::optional<detail::Kernel>& fallback =
      registry_.fallbacks[static_cast<std::size_t>(slot)];
  // An out-of-tree backend may replace the framework's fallback for its
  // autograd key, as in PyTorch from 2.13 on.
  if (fallback.has_value() && key != DispatchKey::AutogradPrivateUse1) {
    throw Error(
        "Tried to register multiple backend fallbacks for the same dispatch "
        "key " +
        std::string(toString(key)) + "; previous registration " +
        fallback->site.debug() + ", new registration " + site.debug());
  }
  fallback = function.kernel();
  fallback->is_fallback = !function.isFallthrough();
  fallback->key = key;
  fallback->site = site;
  for (OperatorEntry* entry : order_) {
    entry->invalidate();
  }
  RegistrationHandle handle = handleOf(What::Fallback, nullptr, nullptr);
  handle.key_ = key;
  return handle;
}

inline RegistrationHandle Dispatcher::addRegistrationListener(
    RegistrationListener& listener) {
  const detail::Lock lock(registry_.mutex);
  for (const OperatorHandle& op : operators()) {
    if (op.hasSchema()) {
      listener.onOperatorRegistered(op);
    }
  }
  listeners_.push_back(&listener);
  return handleOf(What::Listener, nullptr, &listener);
}

inline RegistrationHandle Dispatcher::addObserver(
    std::shared_ptr<Observer> observer) {
  const detail::Lock lock(registry_.mutex);
  RegistrationHandle handle = handleOf(What::Observer, nullptr, observer.get());
  registry_.observers.add(std::move(observer));
  observersChanged();
  return handle;
}

inline void Dispatcher::observersChanged() {
  for (OperatorEntry* entry : order_) {
    entry->observersChanged();
  }
}

inline void Dispatcher::undoDef(OperatorEntry& entry) {
  const OperatorHandle op(entry);
  // A copy: they may add others.
  const std::vector<RegistrationListener*> listeners = listeners_;
  for (RegistrationListener* listener : listeners) {
    listener->onOperatorDeregistered(op);
  }
  entry.undefine();
}

inline void Dispatcher::undo(const RegistrationHandle& handle) {
  const detail::Lock lock(registry_.mutex);
  switch (handle.what_) {
    case What::Nothing:
      break;
    case What::Library:
      libraries_.erase(handle.name_);
      break;
    case What::Def:
      undoDef(*handle.entry_);
      break;
    case What::Impl:
      handle.entry_->removeKernel(
          static_cast<const detail::Kernel*>(handle.subject_));
      break;
    case What::Fallback:
      registry_.fallbacks[static_cast<std::size_t>(slotOf(handle.key_))]
          .reset();
      for (OperatorEntry* entry : order_) {
        entry->invalidate();
      }
      break;
    case What::Listener:
      listeners_.erase(
          std::find(listeners_.begin(), listeners_.end(), handle.subject_));
      break;
    case What::Observer:
      registry_.observers.remove(static_cast<const Observer*>(handle.subject_));
      observersChanged();
      break;
  }
}

namespace detail {

// The part of a StaticOperatorHandle that does not depend on its signature.
struct StaticOperator {
  const char* name;
  const char* overload_name;
  mutable std::atomic<CallTarget*> target{&not_looked_up};

  // The operator, looked up once. Throws Error if it does not exist, or has
  // another signature.
  OperatorEntry& find(const SignatureInfo& info) const {
    CallTarget* found = target.load(std::memory_order_acquire);
    if (found == &not_looked_up) {
      OperatorEntry& entry = Dispatcher::singleton()
                                 .findSchemaOrThrow(name, overload_name)
                                 .entry();
      entry.requireSignature(info);
      target.store(&entry, std::memory_order_release);
      return entry;
    }
    return *static_cast<OperatorEntry*>(found);
  }

  TORCHGEN_LITE_ALWAYS_INLINE const DispatchTable* table() const {
    return target.load(std::memory_order_acquire)
        ->fast.load(std::memory_order_acquire);
  }
};

inline OperatorEntry& entryOf(
    const StaticOperator& op,
    const SignatureInfo& info) {
  return op.find(info);
}

} // namespace detail

// A typed handle that looks up its operator on the first call: generated code
// has these at namespace scope. It is a compile-time constant, so the order of
// initialization does not matter. It has the calls of TypedOperatorHandle,
// which also throw Error while the operator does not exist.
template <class R, class... Args>
class StaticOperatorHandle<R(Args...)> final {
  using Typed = TypedOperatorHandle<R(Args...)>;

 public:
  // The names are literals: "ns::name" and the overload's.
  constexpr explicit StaticOperatorHandle(
      const char* name,
      const char* overload_name = "")
      : op_{name, overload_name} {}
  StaticOperatorHandle(const StaticOperatorHandle&) = delete;
  StaticOperatorHandle& operator=(const StaticOperatorHandle&) = delete;

  TORCHGEN_LITE_ALWAYS_INLINE R call(Args... arguments) const {
    const detail::DispatchTable* table = op_.table();
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return detail::runSlowly<const detail::StaticOperator, R, Args...>(
          DispatchKeySet(),
          std::forward<Args>(arguments)...,
          op_,
          false);
    }
    return detail::call<R, Args...>(*table, std::forward<Args>(arguments)...);
  }

  TORCHGEN_LITE_ALWAYS_INLINE R
  redispatch(DispatchKeySet keys, Args... arguments) const {
    const detail::DispatchTable* table = op_.table();
    if (TORCHGEN_LITE_UNLIKELY(table == nullptr)) {
      return detail::runSlowly<const detail::StaticOperator, R, Args...>(
          keys,
          std::forward<Args>(arguments)...,
          op_,
          true);
    }
    return detail::redispatch<R, Args...>(
        *table,
        keys,
        std::forward<Args>(arguments)...);
  }

  Typed typed() const {
    return Typed(op_.find(detail::SignatureInfo::ofCalls<R(Args...)>()));
  }

 private:
  detail::StaticOperator op_;
};

} // namespace torchgen_lite
