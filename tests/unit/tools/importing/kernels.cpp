// The ways to name a kernel.
#include <torch/library.h>

namespace lib::detail {
at::Tensor f(const at::Tensor& x);
at::Tensor g(const at::Tensor& x);
} // namespace lib::detail

namespace mylib {
at::Tensor f(const at::Tensor& x);
struct Wrapper {
  static at::Tensor call(const at::Tensor& x);
};
} // namespace mylib

using namespace lib::detail;

TORCH_LIBRARY(mylib, m) {
  m.def("a(Tensor x) -> Tensor");
  m.impl("a", torch::kCPU, &mylib::f);
  m.impl("mylib::a", c10::DispatchKey::CUDA, TORCH_FN(g));
  m.impl("a", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(mylib::f)));
  m.impl(
      TORCH_SELECTIVE_NAME("mylib::a"),
      at::DeviceType::XPU,
      static_cast<at::Tensor (*)(const at::Tensor&)>(&g));
  m.def("b(Tensor x) -> Tensor", &mylib::f);
  m.def("c(Tensor x) -> Tensor", torch::dispatch(torch::kCPU, &::mylib::f));
  m.def("d(Tensor x) -> Tensor");
  m.impl("d", mylib::f);
  m.def("e(Tensor x) -> Tensor", {at::Tag::core}, &mylib::Wrapper::call);
}
