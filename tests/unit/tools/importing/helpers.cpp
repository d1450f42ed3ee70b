// Functions that blocks pass their library to, and kernels of two namespaces.
#include <torch/library.h>

namespace a {
at::Tensor f(const at::Tensor& x);

void define(torch::Library& library) {
  library.def("f(Tensor x) -> Tensor");
}

void implement(int version, torch::Library& lib) {
  lib.impl("f", &f);
  nested(lib);
}

void nested(torch::Library& m) {
#ifdef WITH_SCALE
  m.impl("scale", &b::scale);
#endif
}

void endless(torch::Library& m) {
  endless(m);
}

void never(torch::Library& m) {
  m.impl("f", &f);
}
} // namespace a

namespace b {
at::Tensor scale(const at::Tensor& x);
} // namespace b

TORCH_LIBRARY(a, m) {
  a::define(m);
#ifdef WITH_SCALE
  m.def("scale(Tensor x) -> Tensor");
#endif
  a::endless(m);
  a::missing(m);
}
TORCH_LIBRARY_IMPL(a, CPU, m) {
  ::a::implement(2, m);
}
TORCH_LIBRARY(b, m) {
  m.def("scale(Tensor x) -> Tensor", &b::scale);
}
