// A shared library with kernels of its own, compiled with hidden visibility.
// It shares the dispatcher and the local state of the program that loads it.
#include <torchgen_lite/runtime.h>

using namespace torchgen_lite;

namespace {

int on_hip(int) {
  return tls_is_dispatch_key_included(DispatchKey::HIP) ? 42 : 0;
}

struct Mine {};

int own(const Mine&) {
  return 1;
}

TORCHGEN_LITE_LIBRARY_IMPL(host, HIP, m) {
  m.impl("f", on_hip);
}

TORCHGEN_LITE_LIBRARY(plugin, m) {
  m.def("own(Mine self) -> int");
  m.impl("own", own);
}

} // namespace
