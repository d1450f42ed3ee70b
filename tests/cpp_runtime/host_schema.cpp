// The other half of host.cpp.
#include <torchgen_lite/runtime.h>

using namespace torchgen_lite;

TORCHGEN_LITE_LIBRARY(host, m) {
  m.def("f(int x) -> int");
}

static StaticOperatorHandle<int(int)> handle("host::f");

int callF() {
  return handle.call(0);
}
