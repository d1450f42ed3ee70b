// The exceptions of the dispatcher, and where a registration was made.
#pragma once

#include <stdexcept>
#include <string>

namespace torchgen_lite {

// A registration, a look-up or a boxed value that breaks a rule.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call whose keys lead to a slot without a kernel.
class MissingKernelError final : public Error {
 public:
  using Error::Error;
};

// AutogradOther cannot choose between a backend's kernel and a
// CompositeImplicitAutograd one.
class AmbiguousKernelError final : public Error {
 public:
  using Error::Error;
};

// A file and a line; if the line is -1, a note of the caller instead.
// The text is not copied: it is a literal, or lives as long as the dispatcher.
struct Site {
  const char* file = "";
  int line = -1;

  constexpr Site() = default;
  constexpr Site(const char* file_, int line_) : file(file_), line(line_) {}

#if defined(__GNUC__) || defined(__clang__) || defined(_MSC_VER)
  static constexpr Site here(
      const char* file = __builtin_FILE(),
      int line = __builtin_LINE()) {
    return {file, line};
  }
#else
  static constexpr Site here() {
    return {"(unknown)", -1};
  }
#endif

  std::string debug() const {
    return line == -1
        ? std::string(file)
        : "registered at " + std::string(file) + ":" + std::to_string(line);
  }
};

} // namespace torchgen_lite
