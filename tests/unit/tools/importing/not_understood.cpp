// Everything that is said about what is not understood; the rest is there all the same.
#include <torch/library.h>

namespace {
at::Tensor hidden(const at::Tensor& x);
}
static at::Tensor also_hidden(const at::Tensor& x);
namespace mylib {
at::Tensor f(const at::Tensor& x);
template <typename T>
at::Tensor t(const at::Tensor& x);
at::Tensor typed(const Own& x);

TORCH_LIBRARY(mylib, m) {
  m.set_python_module("mylib.fakes");
  m.class_<Box>("Box").def(torch::init<int64_t>()).def("size", &Box::size);
  m.def("a(Tensor x) -> Tensor");
  m.impl("a", torch::kCPU, [](const at::Tensor& x) { return x; });
  m.impl("a", torch::kCUDA, &t<float>);
  m.impl("a", torch::kMeta, torch::CppFunction::makeFallthrough());
  m.impl("a", torch::kXPU, &hidden);
  m.impl("a", key, &f);
  m.impl(name, torch::kCPU, &f);
  UNKNOWN(3)
  register_more(m);
  for (const auto& one : names) {
    m.impl(one, torch::kCPU, &f);
  }
  m.def("b(Tensor x) -> Tensro");
  m.def("c(int mask=0x2F) -> Tensor");
  m.def("d", &undeclared);
  m.def("e", &typed);
  m.def("g(Tensor x) -> Tensor", {at::Tag::mine});
  m.def("h(Tensor x) -> Tensor");
  m.impl("h", torch::kCPU, &elsewhere);
  std::vector<at::Tag> changing = {at::Tag::core};
  changing.push_back(at::Tag::pointwise);
  m.def("i(Tensor x) -> Tensor", changing);
#ifdef ONE
  m.def("two(Tensor x) -> Tensor");
#else
  m.def("two(Tensor y) -> Tensor");
#endif
}

TORCH_LIBRARY_IMPL(mylib, Autocst, m) {
  m.impl("a", &f);
}
TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("nowhere", &f);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&f>());
}
TORCH_LIBRARY(OTHER_NAME, m) {
  m.def("a(Tensor x) -> Tensor");
}
TORCH_LIBRARY_FRAGMENT(mylib)
} // namespace mylib
at::Tensor global(const at::Tensor& x);
TORCH_LIBRARY_IMPL(mylib, AutogradCPU, m) {
  m.impl("a", &also_hidden);
  m.impl("h", &global);
}
TORCH_LIBRARY_FRAGMENT(mylib, m) {
#include "more.inc"
}
