#include <torch/library.h>

at::Tensor f_cpu(const at::Tensor& x);
int64_t g(int64_t n);

// Objects of the old interface are read wherever they stand in a namespace.
static auto first =
    torch::RegisterOperators("mylib::f(Tensor x) -> Tensor", &f_cpu);
static torch::RegisterOperators second("mylib::g", &g);
static torch::RegisterOperators third{"mylib::h() -> ()", &h};
static auto fourth =
    torch::RegisterOperators("mylib::i() -> ()", &i).op("mylib::j() -> ()", &j);

// What is called on these may stand anywhere.
void later() {
  static auto inner = torch::RegisterOperators("mylib::k() -> ()", &k);
  auto m = MAKE_TORCH_LIBRARY(mylib);
  m.def("l() -> ()");
  auto n = MAKE_TORCH_LIBRARY_IMPL(mylib, CPU);
  torch::Library o(
      torch::Library::DEF,
      "mylib",
      std::nullopt,
      __FILE__,
      __LINE__);
}
using torch::RegisterOperators;

TORCH_LIBRARY(mylib, m) {
  // Before the return.
  m.def("before() -> ()");
  auto f = [] { return 1; };
  m.def("behind_a_lambda() -> ()");
  if (!has_cuda())
    return;
  m.def("after() -> ()");
}
TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("f", &f_cpu);
  if (done())
    return;
}
