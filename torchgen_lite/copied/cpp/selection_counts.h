#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

// How often each kernel ran of those that conditions choose: TORCHGEN_LITE_TRACE=kernels says it at exit.
namespace TORCHGEN_LITE_NAMESPACE::selection {

inline bool read_is_counted() {
  const char* text = std::getenv("TORCHGEN_LITE_TRACE");
  std::istringstream words(text == nullptr ? "" : text);
  std::string word;
  while (std::getline(words, word, ',')) {
    if (word == "kernels") {
      return true;
    }
  }
  return false;
}

// Read once, when the library is loaded.
inline const bool is_counted = read_is_counted();

// A kernel of an operator for a key.
class Row {
 public:
  // A constant, so that calls in the initialization of other variables find it.
  constexpr Row(const char* place, const char* kernel)
      : place_(place), kernel_(kernel) {}

  // Called before the kernel, by any number of threads.
  void runs() {
    if (is_counted) {
      count();
    }
  }

 private:
  // In the order in which kernels ran first. What is said at exit is destroyed by nobody before.
  static std::vector<const Row*>& counted() {
    static auto* rows = new std::vector<const Row*>;
    return *rows;
  }

  static std::mutex& lock() {
    static auto* mutex = new std::mutex;
    return *mutex;
  }

  void count() {
    if (times_.fetch_add(1, std::memory_order_relaxed) > 0) {
      return;
    }
    const std::lock_guard<std::mutex> locked(lock());
    if (counted().empty()) {
      std::atexit(say);
    }
    counted().push_back(this);
  }

  std::string name() const {
    return std::string(place_) + ": " + kernel_;
  }

  // One kernel may stand in several rows, and in the files of several operators.
  static void say() {
    const std::lock_guard<std::mutex> locked(lock());
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const Row* row : counted()) {
      const auto name = row->name();
      std::uint64_t* times = nullptr;
      for (auto& [other, sum] : found) {
        times = other == name ? &sum : times;
      }
      if (times == nullptr) {
        times = &found.emplace_back(name, 0).second;
      }
      *times += row->times_.load(std::memory_order_relaxed);
    }
    for (const auto& [name, times] : found) {
      const auto text = times == 1 ? "once" : std::to_string(times) + " times";
      std::fprintf(stderr, "%s ran %s\n", name.c_str(), text.c_str());
    }
  }

  const char* place_;
  const char* kernel_;
  std::atomic<std::uint64_t> times_{0};
};

} // namespace TORCHGEN_LITE_NAMESPACE::selection

#undef TORCHGEN_LITE_NAMESPACE
