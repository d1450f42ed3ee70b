#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>
#include <torch/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

// What devices at PrivateUse1 have in common. A class that fits the hardware is
// used as it is, and another one is derived from; `install` registers them.
namespace TORCHGEN_LITE_NAMESPACE::device {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

// The current device and the streams of a thread, and events. Work is done when
// the call returns, so events are only times, and nothing waits. A device that
// works on its own overrides what concerns streams and events.
class Guard : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override {
    return kType;
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
#if __has_include(<c10/core/DeviceCapability.h>)
  c10::DeviceCapability getDeviceCapability(
      c10::Device /*device*/) const override {
    return {};
  }
#endif
  c10::Device getDevice() const override {
    return c10::Device(kType, current());
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(
        device.index() < deviceCount(),
        "there is no device ",
        device,
        ": there are ",
        static_cast<int>(deviceCount()));
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current() = device.has_index() ? device.index() : current();
  }

  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, with_index(device));
  }
  c10::Stream getStream(c10::Device device) const noexcept override {
    const auto found = streams().find(with_index(device).index());
    return found == streams().end() ? getDefaultStream(device) : found->second;
  }
  c10::Stream getNewStream(c10::Device device, int /*priority*/ = 0)
      const override {
    static std::atomic<c10::StreamId> last{0};
    return c10::Stream(c10::Stream::UNSAFE, with_index(device), ++last);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    const c10::Stream before = getStream(stream.device());
    streams().insert_or_assign(stream.device_index(), stream);
    return before;
  }
  bool queryStream(const c10::Stream& /*stream*/) const override {
    return true;
  }
  void synchronizeStream(const c10::Stream& /*stream*/) const override {}
  void synchronizeDevice(c10::DeviceIndex /*device*/) const override {}

  void record(
      void** event,
      const c10::Stream& /*stream*/,
      c10::DeviceIndex /*device*/,
      c10::EventFlag /*flag*/) const override {
    *event = *event == nullptr ? new Clock::time_point : *event;
    *static_cast<Clock::time_point*>(*event) = Clock::now();
  }
  void block(void* /*event*/, const c10::Stream& /*stream*/) const override {}
  bool queryEvent(void* /*event*/) const override {
    return true;
  }
  void synchronizeEvent(void* /*event*/) const override {}
  void destroyEvent(void* event, c10::DeviceIndex /*device*/)
      const noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  double elapsedTime(void* from, void* to, c10::DeviceIndex /*device*/)
      const override {
    const auto time = [](void* event) {
      return *static_cast<Clock::time_point*>(event);
    };
    return std::chrono::duration<double, std::milli>(time(to) - time(from))
        .count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  static c10::DeviceIndex& current() {
    thread_local c10::DeviceIndex index = 0;
    return index;
  }
  static std::map<c10::DeviceIndex, c10::Stream>& streams() {
    thread_local std::map<c10::DeviceIndex, c10::Stream> of_devices;
    return of_devices;
  }
  static c10::Device with_index(c10::Device device) {
    return device.has_index() ? device : c10::Device(kType, current());
  }
};

inline const c10::impl::DeviceGuardImplInterface& guard() {
  return *c10::impl::getDeviceGuardImpl(kType);
}

// Blocks of memory by their addresses.
class Blocks {
 public:
  struct Block {
    std::size_t bytes;
    c10::DeviceIndex device;
  };

  void add(void* data, Block block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.emplace(reinterpret_cast<std::uintptr_t>(data), block);
  }
  Block remove(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return blocks_.extract(reinterpret_cast<std::uintptr_t>(data)).mapped();
  }
  // The block that an address points into.
  std::optional<Block> find(const void* data) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) {
      return std::nullopt;
    }
    const auto& [begin, block] = *--after;
    return address - begin < block.bytes ? std::optional(block) : std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;
};

// The memory of the devices, which is counted.
class Memory : public c10::DeviceAllocator {
 public:
  // Memory of the current device, and its return.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give_back(void* data) = 0;
  // How many bytes a device has.
  virtual std::size_t capacity(c10::DeviceIndex device) const {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false,
        c10::Device(kType, device),
        " does not say how much memory it has");
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device = guard().getDevice();
    if (bytes == 0) {
      return {nullptr, nullptr, &free, device};
    }
    void* data = take(bytes);
    TORCH_CHECK_WITH(
        OutOfMemoryError,
        data != nullptr,
        device,
        " has no ",
        bytes,
        " bytes");
    blocks.add(data, {bytes, device.index()});
    count(device.index(), [&](auto& stat, bool is_bytes) {
      stat.increase(is_bytes ? bytes : 1);
    });
    return {data, data, &free, device};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &free;
  }

  bool initialized() override {
    return true;
  }
  void emptyCache(c10::MempoolId_t /*pool*/ = {0, 0}) override {}
  void recordStream(const c10::DataPtr& /*data*/, c10::Stream /*stream*/)
      override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(
      c10::DeviceIndex device) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_[device];
  }
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
  // Bytes that are free, and all of them. Earlier releases of PyTorch do not ask,
  // so there it overrides nothing.
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) {
    const std::size_t bytes = capacity(device);
    const auto taken = getDeviceStats(device).allocated_bytes[0].current;
    return {bytes - std::min(bytes, static_cast<std::size_t>(taken)), bytes};
  }
#ifdef __clang__
#pragma clang diagnostic pop
#endif
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    count(device, [](auto& stat, bool) { stat.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    count(device, [](auto& stat, bool) { stat.reset_peak(); });
  }

  Blocks blocks;

 private:
  static void free(void* data);

  // Calls a function with each number, and whether that counts bytes.
  template <class Change>
  void count(c10::DeviceIndex device, const Change& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_[device];
    change(stats.allocation[0], false);
    change(stats.active[0], false);
    change(stats.allocated_bytes[0], true);
    change(stats.active_bytes[0], true);
    change(stats.requested_bytes[0], true);
    change(stats.reserved_bytes[0], true);
  }

  std::mutex mutex_;
  std::map<c10::DeviceIndex, c10::CachingDeviceAllocator::DeviceStats> stats_;
};

inline Memory& memory() {
  return *static_cast<Memory*>(c10::GetAllocator(kType));
}

inline void Memory::free(void* data) {
  if (data == nullptr) {
    return;
  }
  Memory& of = memory();
  const Blocks::Block block = of.blocks.remove(data);
  of.count(block.device, [&](auto& stat, bool is_bytes) {
    stat.decrease(is_bytes ? block.bytes : 1);
  });
  of.give_back(data);
}

// What a tensor without values has where PyTorch is asked for results that are
// the same in each run.
inline at::Tensor filled_if_deterministic(at::Tensor made) {
  const auto& asked = at::globalContext();
  if (asked.deterministicAlgorithms() &&
      asked.deterministicFillUninitializedMemory()) {
    at::native::fill_empty_deterministic_(made);
  }
  return made;
}

// Tensors without values, in memory of the current device: what kernels of
// `empty.memory_format` and `empty_strided` return.
inline at::Tensor empty(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> dtype,
    std::optional<c10::MemoryFormat> format) {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return filled_if_deterministic(
      at::detail::empty_generic(
          size,
          &memory(),
          keys,
          c10::dtype_or_default(dtype),
          format));
}
inline at::Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<c10::ScalarType> dtype) {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return filled_if_deterministic(
      at::detail::empty_strided_generic(
          size,
          stride,
          &memory(),
          keys,
          c10::dtype_or_default(dtype)));
}

// Memory of the host for `pin_memory`, which a device may be able to read.
class PinnedMemory : public at::HostAllocator {
 public:
  virtual void* take(std::size_t bytes) {
    return std::malloc(bytes);
  }
  virtual void give_back(void* data) {
    std::free(data);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = bytes == 0 ? nullptr : take(bytes);
    if (data != nullptr) {
      blocks.add(data, {bytes, 0});
    }
    return {data, data, &free, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &free;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool record_event(void*, void*, c10::Stream) override {
    return true;
  }
  void empty_cache() override {}
  at::HostStats get_stats() override {
    return {};
  }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}

  Blocks blocks;

 private:
  static void free(void* data);
};

inline PinnedMemory& pinned_memory() {
  return *static_cast<PinnedMemory*>(at::getHostAllocator(kType));
}

inline void PinnedMemory::free(void* data) {
  if (data != nullptr) {
    pinned_memory().blocks.remove(data);
    pinned_memory().give_back(data);
  }
}

// The random numbers of the CPU, in a sequence of the device's own.
class Generator final : public at::CPUGeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex index) {
    device_ = c10::Device(kType, index);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }

 private:
  Generator* clone_impl() const override {
    auto* copy = new Generator(device().index());
    copy->set_state(*get_state());
    return copy;
  }
};

// The generator that random numbers of a device come from if none is given.
inline at::Generator& default_generator(c10::DeviceIndex index) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, at::Generator> made;
  const std::lock_guard<std::mutex> lock(mutex);
  at::Generator& of = made[index < 0 ? guard().getDevice().index() : index];
  if (!of.defined()) {
    of = at::make_generator<Generator>(index < 0 ? 0 : index);
  }
  return of;
}

// PyTorch's questions to the device.
class Hooks : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return deviceCount() > 0;
  }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override {
    return true;
  }
  c10::DeviceIndex deviceCount() const override {
    return guard().deviceCount();
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return guard().getDevice().index();
  }
  void setCurrentDevice(c10::DeviceIndex index) const override {
    guard().setDevice(c10::Device(kType, index));
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return guard().exchangeDevice(c10::Device(kType, index)).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchangeDevice(index);
  }
  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex index) const override {
    return default_generator(index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index = -1) const override {
    const auto current = guard().getDevice().index();
    return at::make_generator<Generator>(index < 0 ? current : index);
  }
  c10::Device getDeviceFromPtr(void* data) const override {
    const auto block = memory().blocks.find(data);
    TORCH_CHECK(block || data == nullptr, "this is not memory of ", kType);
    return c10::Device(kType, block ? block->device : getCurrentDevice());
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return &pinned_memory();
  }
  bool isPinnedPtr(const void* data) const override {
    return pinned_memory().blocks.find(data).has_value();
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes)
      const override {
    const c10::impl::VirtualGuardImpl devices(kType);
    c10::DataPtr data = memory().allocate(bytes);
    const std::size_t kept = std::min(bytes, storage.nbytes());
    if (kept > 0) {
      memory().copy_data(data.get(), storage.data(), kept);
    }
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
  }
};

// The times of operators on the device, between events of `Guard`.
class Profiler : public torch::profiler::impl::ProfilerStubs {
 public:
  using Event = torch::profiler::impl::ProfilerVoidEventStub;

  void record(c10::DeviceIndex* device, Event* event, int64_t* cpu_time)
      const override {
    const c10::Device current = guard().getDevice();
    void* made = nullptr;
    guard().record(
        &made,
        guard().getStream(current),
        current.index(),
        c10::EventFlag::BACKEND_DEFAULT);
    event->reset(made, [index = current.index()](void* data) {
      guard().destroyEvent(data, index);
    });
    if (device != nullptr) {
      *device = current.index();
    }
    if (cpu_time != nullptr) {
      *cpu_time = c10::getTime();
    }
  }
  // In microseconds.
  float elapsed(const Event* from, const Event* to) const override {
    guard().synchronizeEvent(to->get());
    const auto index = guard().getDevice().index();
    const double time = guard().elapsedTime(from->get(), to->get(), index);
    return static_cast<float>(time * 1000);
  }
  bool enabled() const override {
    return true;
  }
  void onEachDevice(std::function<void(int)> run) const override {
    const c10::impl::VirtualGuardImpl devices(kType);
    const c10::Device before = devices.getDevice();
    for (c10::DeviceIndex index = 0; index < devices.deviceCount(); ++index) {
      devices.setDevice(c10::Device(kType, index));
      run(index);
    }
    devices.setDevice(before);
  }
  void synchronize() const override {
    guard().synchronizeDevice(guard().getDevice().index());
  }
  void mark(const char* /*name*/) const override {}
  void rangePush(const char* /*name*/) const override {}
  void rangePop() const override {}
};

// Makes a generator the default one of its device.
inline void set_default_generator(
    const std::optional<at::Generator>& generator) {
  TORCH_CHECK(
      generator && generator->device().type() == kType,
      "this is not a generator of ",
      kType);
  default_generator(generator->device().index()) = *generator;
}

// The device of the first tensor of this device among arguments, or the current
// one.
inline c10::DeviceIndex device_of(c10::ArrayRef<c10::IValue> arguments) {
  for (const c10::IValue& value : arguments) {
    if (value.isTensor() && value.toTensor().defined() &&
        value.toTensor().device().type() == kType) {
      return value.toTensor().device().index();
    }
  }
  return guard().getDevice().index();
}

// Runs an operator, such as by a fallback to the CPU, with the random numbers of
// the device, which are lent to a generator of the CPU:
//
//   TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
//     m.fallback(torch::CppFunction::makeFromBoxedFunction<
//                &device::with_generator<&fallback::cpu_kernel>>());
//   }
template <void (*kernel)(const c10::OperatorHandle&, torch::jit::Stack*)>
void with_generator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const std::size_t begin = stack->size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].type()->isSubtypeOf(
            *c10::getTypePtr<std::optional<at::Generator>>())) {
      continue;
    }
    c10::IValue& value = (*stack)[begin + i];
    const auto index = device_of(torch::jit::last(*stack, arguments.size()));
    at::Generator own =
        value.isNone() ? default_generator(index) : value.toGenerator();
    TORCH_CHECK(
        own.device().type() == kType,
        op.operator_name(),
        " was given a generator of ",
        own.device());
    const std::lock_guard<std::mutex> lock(own.mutex());
    auto lent = at::make_generator<at::CPUGeneratorImpl>();
    lent.set_state(own.get_state());
    value = lent;
    kernel(op, stack);
    own.unsafeGetGeneratorImpl()->set_state(
        *lent.get_state().unsafeGetTensorImpl());
    return;
  }
  kernel(op, stack);
}

inline void refuse_in_autocast(
    const c10::OperatorHandle& op,
    torch::jit::Stack* /*stack*/) {
  TORCH_CHECK(
      false,
      op.operator_name(),
      " is not safe in a lower precision: call the function that takes logits");
}

// Registers a device, once and for good, so that nothing is ever deleted.
inline bool install(
    const Guard* guard,
    Memory* memory,
    PinnedMemory* pinned_memory,
    Hooks* hooks,
    Profiler* profiler = new Profiler) {
  const c10::impl::DeviceGuardImplRegistrar registers(kType, guard);
  c10::SetAllocator(kType, memory);
  at::setHostAllocator(kType, pinned_memory);
  at::RegisterPrivateUse1HooksInterface(hooks);
  torch::profiler::impl::registerPrivateUse1Methods(profiler);
  const auto at = [](const char* name) {
    const auto key = c10::DispatchKey::AutocastPrivateUse1;
    return new torch::Library(
        torch::Library::IMPL,
        name,
        key,
        __FILE__,
        __LINE__);
  };
  at("_")->fallback(torch::CppFunction::makeFallthrough());
  at("aten")->impl(
      "binary_cross_entropy",
      torch::CppFunction::makeFromBoxedFunction<&refuse_in_autocast>());
  return true;
}

} // namespace TORCHGEN_LITE_NAMESPACE::device

#undef TORCHGEN_LITE_NAMESPACE
