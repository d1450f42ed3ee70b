// What the files of this folder share: checks that say what they found, and
// types that take part in dispatch. Each test is a function that main.cpp calls.
#pragma once

#include <torchgen_lite/runtime.h>

#include <functional>
#include <iostream>
#include <sstream>

using namespace torchgen_lite;

// arguments.cpp
void testArguments();
void testSchemaText();
void testValues();
void testBoxing();
void testNarrowIntegers();
void testReferences();
void testMoveOnly();
// registration.cpp
void testKernels();
void testSignatures();
void testLifetimes();
void testAnotherSignature();
void testLibraries();
void testTwiceFromOnePlace();
void testOverrideWarning();
void testListeners();
// calls.cpp
void testLateSignature();
void testHandles();
void testThreads();
void testObservers();
void testThrowing();
void testTrace();
void testChurn();
void testMacros();

inline int checks = 0;
inline int failures = 0;

inline void expectAt(
    const char* file,
    int line,
    bool holds,
    const std::string& text) {
  ++checks;
  if (!holds) {
    ++failures;
    std::cout << file << ":" << line << ": " << text << "\n";
  }
}

#define EXPECT(condition) expectAt(__FILE__, __LINE__, (condition), #condition)
#define EXPECT_EQ(found, wanted) \
  expectEqualAt(__FILE__, __LINE__, (found), (wanted))
#define EXPECT_ERROR(expression, text) \
  expectErrorAt(__FILE__, __LINE__, [&] { (void)(expression); }, text)

namespace torchgen_lite {
inline std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) {
  return out << toString(keys);
}
} // namespace torchgen_lite

template <class A, class B>
void expectEqualAt(
    const char* file,
    int line,
    const A& found,
    const B& wanted) {
  std::ostringstream text;
  text << "found '" << found << "', not '" << wanted << "'";
  expectAt(file, line, found == wanted, text.str());
}

inline void expectErrorAt(
    const char* file,
    int line,
    const std::function<void()>& run,
    const std::string& text) {
  try {
    run();
  } catch (const std::exception& error) {
    const std::string found = error.what();
    expectAt(
        file,
        line,
        found.find(text) != std::string::npos,
        "found '" + found + "'");
    return;
  }
  expectAt(file, line, false, "nothing was thrown, not '" + text + "'");
}

// A tensor that counts its copies, as one of Eigen or xtensor would cost.
struct Matrix {
  Matrix(DispatchKeySet keys, double value) : keys(keys), value(value) {}
  Matrix(const Matrix& other) : keys(other.keys), value(other.value) {
    ++copies;
  }
  Matrix(Matrix&& other) = default;
  Matrix& operator=(const Matrix&) = default;

  DispatchKeySet keys;
  double value;
  static int copies;
};
inline int Matrix::copies = 0;

struct Generator {
  DispatchKeySet keys;
};

// A tensor that is a range of its elements, and cannot be copied.
struct Owner {
  explicit Owner(double value) : data{value} {}
  Owner(Owner&&) = default;
  std::vector<double> data;
  auto begin() const {
    return data.begin();
  }
  auto end() const {
    return data.end();
  }
};

inline constexpr DispatchKeySet cpu{DispatchKey::CPU};
inline constexpr DispatchKeySet cuda{DispatchKey::CUDA};
inline constexpr DispatchKeySet cpu_autograd{
    DispatchKey::CPU,
    DispatchKey::AutogradCPU};

template <>
struct torchgen_lite::KeysetOf<Matrix> {
  static DispatchKeySet get(const Matrix& matrix) {
    return matrix.keys;
  }
};
template <>
struct torchgen_lite::KeysetOf<Generator> {
  static constexpr bool boxed = false;
  static DispatchKeySet get(const Generator& generator) {
    return generator.keys;
  }
};
template <>
struct torchgen_lite::KeysetOf<Owner> {
  static DispatchKeySet get(const Owner&) {
    return cpu;
  }
};

// Goes on below autograd.
inline void fallbackOf(
    const OperatorHandle& op,
    DispatchKeySet keys,
    Stack& stack) {
  op.redispatchBoxed(keys & after_autograd_keyset, stack);
}

// Kernels of one signature.
inline std::int64_t one(const Matrix&) noexcept {
  return 1;
}
inline std::int64_t keyed(DispatchKeySet keys, const Matrix&) {
  return static_cast<std::int64_t>(keys.raw_repr());
}
