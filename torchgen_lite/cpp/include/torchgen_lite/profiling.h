// The profiling hook (the place of c10's RecordFunction) and a tracer on it.
#pragma once

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include <torchgen_lite/errors.h>
#include <torchgen_lite/dispatch_key_set.h>

namespace torchgen_lite {

class OperatorEntry;

// One run of a kernel.
struct CallRecord {
  const OperatorEntry& op;
  // ns::name.overload
  const std::string& name;
  DispatchKeySet keys;
  DispatchKey key;
  // "call", "redispatch", "callBoxed" or "redispatchBoxed".
  const char* how;
  bool is_fallback;
  Site site;
};

// Sees every call and redispatch of a dispatcher, in all threads, from
// Dispatcher::addObserver until its handle is dropped.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before a kernel runs.
  virtual void enter(const CallRecord& record) = 0;
  // After it, also when it has thrown.
  virtual void leave(const CallRecord&) {}
};

// Prints the tree of calls, as TORCH_SHOW_DISPATCH_TRACE does:
//
//   [call] op=[aten::add.Tensor], key=[AutogradCPU]
//    [redispatch] op=[aten::add.Tensor], key=[CPU]
class TraceObserver final : public Observer {
 public:
  explicit TraceObserver(std::FILE* file = stdout) : file_(file) {}

  void enter(const CallRecord& record) override {
    const std::string key(toString(record.key));
    std::fprintf(
        file_,
        "%*s[%s] op=[%s], key=[%s]%s\n",
        depth(),
        "",
        record.how,
        record.name.c_str(),
        key.c_str(),
        record.is_fallback ? ", fallback" : "");
    ++depth();
  }
  void leave(const CallRecord&) override {
    --depth();
  }

 private:
  static int& depth() {
    static thread_local int depth = 0;
    return depth;
  }

  std::FILE* file_;
};

namespace detail {

using Observers = std::vector<std::shared_ptr<Observer>>;

// The observers of a dispatcher. A call keeps the list that it began with, so
// an observer that is removed meanwhile is still notified of the end.
class ObserverList final {
 public:
  bool any() const {
    return any_.load(std::memory_order_acquire);
  }
  std::shared_ptr<const Observers> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return observers_;
  }
  void add(std::shared_ptr<Observer> observer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Observers changed = *observers_;
    changed.push_back(std::move(observer));
    set(std::move(changed));
  }
  // The newest entry of this observer, which may be there twice.
  void remove(const Observer* observer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Observers changed = *observers_;
    for (std::size_t i = changed.size(); i-- > 0;) {
      if (changed[i].get() == observer) {
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
    set(std::move(changed));
  }

 private:
  void set(Observers changed) {
    any_.store(!changed.empty(), std::memory_order_release);
    observers_ = std::make_shared<const Observers>(std::move(changed));
  }

  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::shared_ptr<const Observers> observers_ =
      std::make_shared<const Observers>();
};

// The observers around one run of a kernel.
class Observation final {
 public:
  Observation(std::shared_ptr<const Observers> observers, CallRecord record)
      : observers_(std::move(observers)), record_(record) {
    try {
      for (const std::shared_ptr<Observer>& observer : *observers_) {
        observer->enter(record_);
        ++entered_;
      }
    } catch (...) {
      leave();
      throw;
    }
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation() {
    leave();
  }

 private:
  void leave() {
    while (entered_ > 0) {
      (*observers_)[--entered_]->leave(record_);
    }
  }

  std::shared_ptr<const Observers> observers_;
  CallRecord record_;
  std::size_t entered_ = 0;
};

} // namespace detail
} // namespace torchgen_lite
