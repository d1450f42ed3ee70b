// What stands under conditions becomes `guard:`.
#include <torch/library.h>
#include "conditions.h"

namespace mylib {
at::Tensor f(const at::Tensor& x);

TORCH_LIBRARY(mylib, m) {
#ifndef USE_ROCM
  m.def("a(Tensor x) -> Tensor");
  m.impl("a", torch::kCUDA, &f);
#if defined(WITH_A) && VERSION > 3 /* since
                     then */
  m.def("b(Tensor x) -> Tensor");
  m.impl("b", torch::kCUDA, &f);
#endif
#else
  m.def("c(Tensor x) -> Tensor");
#endif

#if ARCH == 1 // the first
  m.def("d(Tensor x) -> Tensor");
#elif defined(OTHER)
  m.def("e(Tensor x) -> Tensor");
#else
  m.def("g(Tensor x) -> Tensor");
#endif

#if 0
  m.def("never(Tensor x) -> Tensor");
#endif
#if 1
  m.def("always(Tensor x) -> Tensor");
#endif
}

#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(mylib, CUDA, m) {
  m.impl("always", &f);
}
#endif

#ifdef WITH_FAST
TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("always", &f);
}
#endif
} // namespace mylib
