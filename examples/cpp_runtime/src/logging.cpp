// A mode that says which operators are called: one boxed kernel for all of
// them, at a key that only the guard of `logging.h` brings.
#include "logging.h"

#include <toy/tensor.h>
#include <torchgen_lite/runtime.h>

#include <iostream>

namespace toy {
namespace {

using torchgen_lite::DispatchKey;
using torchgen_lite::DispatchKeySet;
using torchgen_lite::OperatorHandle;
using torchgen_lite::Stack;
using torchgen_lite::Value;

thread_local int depth = 0;

void print(const Value& value) {
  if (value.is<Tensor>()) {
    std::cout << "Tensor[";
    const char* comma = "";
    for (const int64_t size : value.toObject<const Tensor>().shape()) {
      std::cout << comma << size;
      comma = ", ";
    }
    std::cout << "]";
  } else if (value.isDouble()) {
    std::cout << value.toDouble();
  } else if (value.isInt()) {
    std::cout << value.toInt();
  } else if (value.isList()) {
    std::cout << "[";
    const char* comma = "";
    for (const Value& element : value.toList()) {
      std::cout << comma;
      print(element);
      comma = ", ";
    }
    std::cout << "]";
  } else {
    std::cout << value.typeName();
  }
}

void log_call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet below =
      keys & DispatchKeySet::full_after(DispatchKey::TESTING_ONLY_GenericMode);
  std::cout << std::string(static_cast<std::size_t>(2 * depth + 2), ' ')
            << op.fullName() << "(";
  const char* comma = "";
  for (const Value& value : stack) {
    std::cout << comma;
    print(value);
    comma = ", ";
  }
  std::cout << ") at " << toString(below.highestPriorityTypeId()) << "\n";
  ++depth;
  op.redispatchBoxed(below, stack);
  --depth;
}

} // namespace
} // namespace toy

TORCHGEN_LITE_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torchgen_lite::boxed(&toy::log_call));
}
// The results of operators without an autograd kernel have no gradient.
TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradCPU, m) {
  m.fallback(torchgen_lite::fallthrough());
}
TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradMeta, m) {
  m.fallback(torchgen_lite::fallthrough());
}
