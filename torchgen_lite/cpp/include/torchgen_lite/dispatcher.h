// Dispatcher: the operators, libraries, backend fallbacks and listeners (c10
// Dispatcher). Library is the usual way to register; the functions here are the
// individual steps, each of which is undone by the handle that it returns.
#pragma once

#include <unordered_map>

#include <torchgen_lite/operator_handle.h>

namespace torchgen_lite {

class Dispatcher;

// Undoes a registration when it is destroyed. The dispatcher must outlive it.
class RegistrationHandle final {
 public:
  RegistrationHandle() = default;
  RegistrationHandle(RegistrationHandle&& other) noexcept {
    swap(other);
  }
  RegistrationHandle& operator=(RegistrationHandle&& other) noexcept {
    RegistrationHandle taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~RegistrationHandle() {
    undo();
  }

  // Undoes it now.
  void undo();

 private:
  friend class Dispatcher;

  enum class What : std::uint8_t {
    Nothing,
    Library,
    Def,
    Impl,
    Fallback,
    Listener,
    Observer,
  };

  RegistrationHandle(What what, Dispatcher& dispatcher)
      : what_(what), dispatcher_(&dispatcher) {}

  void swap(RegistrationHandle& other) {
    std::swap(what_, other.what_);
    std::swap(dispatcher_, other.dispatcher_);
    std::swap(entry_, other.entry_);
    std::swap(subject_, other.subject_);
    std::swap(name_, other.name_);
    std::swap(key_, other.key_);
  }

  What what_ = What::Nothing;
  Dispatcher* dispatcher_ = nullptr;
  OperatorEntry* entry_ = nullptr;
  const void* subject_ = nullptr;
  std::string name_;
  DispatchKey key_ = DispatchKey::Undefined;
};

// Is notified of definitions: of those that exist when it is added, then of
// each new one, and of each removal, before the schema is dropped.
class RegistrationListener {
 public:
  virtual ~RegistrationListener() = default;
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

class Dispatcher final {
 public:
  Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // The one that libraries use by default.
  TORCHGEN_LITE_API static Dispatcher& singleton() {
    static Dispatcher dispatcher;
    return dispatcher;
  }

  // Look-up. A name is "ns::name".

  // The operator, defined or only implemented.
  std::optional<OperatorHandle> findOp(
      std::string_view name,
      std::string_view overload_name = "") {
    const detail::Lock lock(registry_.mutex);
    const auto found = operators_.find(joined(name, overload_name));
    if (found == operators_.end() || found->second->isVacant()) {
      return std::nullopt;
    }
    return OperatorHandle(*found->second);
  }

  // The operator if it is defined.
  std::optional<OperatorHandle> findSchema(
      std::string_view name,
      std::string_view overload_name = "") {
    const std::optional<OperatorHandle> found = findOp(name, overload_name);
    return found.has_value() && found->hasSchema() ? found : std::nullopt;
  }

  // Throws an Error that tells undefined operators from dangling ones.
  OperatorHandle findSchemaOrThrow(
      std::string_view name,
      std::string_view overload_name = "") {
    const std::optional<OperatorHandle> found = findOp(name, overload_name);
    const std::string text =
        "Could not find schema for " + joined(name, overload_name);
    if (!found.has_value()) {
      throw Error(text);
    }
    if (!found->hasSchema()) {
      throw Error(
          text +
          " but we found an implementation; did you forget to def() the "
          "operator?");
    }
    return *found;
  }

  // Every operator that is defined or has a kernel, in the order of first
  // registration.
  std::vector<OperatorHandle> operators() {
    const detail::Lock lock(registry_.mutex);
    std::vector<OperatorHandle> all;
    for (OperatorEntry* entry : order_) {
      if (!entry->isVacant()) {
        all.emplace_back(*entry);
      }
    }
    return all;
  }

  // Operators with kernels but without a definition, by name.
  std::vector<OperatorHandle> findDanglingImpls() {
    std::vector<OperatorHandle> found;
    for (const OperatorHandle& op : operators()) {
      if (!op.hasSchema()) {
        found.push_back(op);
      }
    }
    std::sort(
        found.begin(),
        found.end(),
        [](const OperatorHandle& a, const OperatorHandle& b) {
          return a.fullName() < b.fullName();
        });
    return found;
  }

  // Names of the operators with a kernel at a key, including alias keys; at any
  // key if none is given.
  std::vector<std::string> getRegistrationsForDispatchKey(
      std::optional<DispatchKey> key = std::nullopt) {
    std::vector<std::string> names;
    const detail::Lock lock(registry_.mutex);
    for (const OperatorEntry* entry : order_) {
      if (key.has_value() ? entry->kernels().count(*key) != 0
                          : !entry->kernels().empty()) {
        names.push_back(entry->fullName());
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Throws Error if a table does not match its operator's registrations.
  void checkInvariants() {
    const detail::Lock lock(registry_.mutex);
    for (OperatorEntry* entry : order_) {
      entry->checkInvariants();
    }
  }

  // Frees tables and kernels that have been replaced. No call may be running.
  void reclaim() {
    const detail::Lock lock(registry_.mutex);
    for (OperatorEntry* entry : order_) {
      entry->reclaim();
    }
  }

  // Registration. Each function throws Error for what c10 refuses.

  [[nodiscard]] RegistrationHandle registerLibrary(
      std::string ns,
      std::string debug);
  // The schema's name includes the namespace.
  [[nodiscard]] RegistrationHandle registerDef(
      std::string schema,
      std::vector<std::string> tags,
      Site site);
  [[nodiscard]] RegistrationHandle registerImpl(
      const std::string& full_name,
      DispatchKey key,
      const KernelFunction& function,
      Site site);
  [[nodiscard]] RegistrationHandle registerFallback(
      DispatchKey key,
      const KernelFunction& function,
      Site site);
  [[nodiscard]] RegistrationHandle addRegistrationListener(
      RegistrationListener& listener);
  // Lets an observer see every call until the handle is destroyed.
  [[nodiscard]] RegistrationHandle addObserver(
      std::shared_ptr<Observer> observer);

 private:
  friend class RegistrationHandle;
  using What = RegistrationHandle::What;

  static std::string joined(
      std::string_view name,
      std::string_view overload_name) {
    std::string text(name);
    if (!overload_name.empty()) {
      text += '.';
      text += overload_name;
    }
    return text;
  }

  // The entry of a name, created if new. Entries stay, so handles stay valid.
  OperatorEntry& entryOf(const std::string& full_name) {
    std::unique_ptr<OperatorEntry>& entry = operators_[full_name];
    if (entry == nullptr) {
      entry = std::make_unique<OperatorEntry>(registry_, full_name);
      order_.push_back(entry.get());
    } else if (entry->isVacant()) {
      // It comes back as a new one.
      order_.erase(std::find(order_.begin(), order_.end(), entry.get()));
      order_.push_back(entry.get());
    }
    return *entry;
  }

  RegistrationHandle handleOf(
      What what,
      OperatorEntry* entry,
      const void* subject,
      std::string name = "") {
    RegistrationHandle handle(what, *this);
    handle.entry_ = entry;
    handle.subject_ = subject;
    handle.name_ = std::move(name);
    return handle;
  }

  void undo(const RegistrationHandle& handle);
  void undoDef(OperatorEntry& entry);
  void observersChanged();

  detail::Registry registry_;
  std::unordered_map<std::string, std::unique_ptr<OperatorEntry>> operators_;
  std::vector<OperatorEntry*> order_;
  std::map<std::string, std::string> libraries_;
  std::vector<RegistrationListener*> listeners_;
};

} // namespace torchgen_lite

#include <torchgen_lite/registration.h>
