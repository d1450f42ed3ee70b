#pragma once

#include <torch/library.h>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

//   m.impl("f", mylib::fallback::underived());
//
// The kernel of an operator without formulas, which refuses derivatives that would
// be lost. It is one for all operators, in underived.cpp: the headers that it needs
// take a compiler as long as all registrations.
torch::CppFunction underived();

// The same for an operator whose derivatives are in the package in Python, which
// replaces the kernel when it is imported.
torch::CppFunction derived_in_python();

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
