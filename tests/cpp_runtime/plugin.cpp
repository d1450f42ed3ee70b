// A shared library with kernels of its own, compiled with hidden visibility.
// It shares the dispatcher and the local state of the program that loads it.
#include <torchgen_lite/runtime.h>

using namespace torchgen_lite;

namespace {

int on_hip(int) {
  return tls_is_dispatch_key_included(DispatchKey::HIP) ? 42 : 0;
}

TORCHGEN_LITE_LIBRARY_IMPL(host, HIP, m) {
  m.impl("f", on_hip);
}

} // namespace
