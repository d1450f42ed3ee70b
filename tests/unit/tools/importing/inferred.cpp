// Schemas that follow from the types of kernels.
#include <torch/library.h>

#define MYLIB_EXPORT __attribute__((visibility("default")))

namespace mylib {
MYLIB_EXPORT at::Tensor f(
    const at::Tensor& x,
    int64_t k,
    double s,
    bool b,
    std::string t,
    std::optional<at::Tensor> w);
std::tuple<at::Tensor, int64_t> g(
    at::Tensor x,
    at::IntArrayRef sizes,
    const std::vector<at::Tensor>& xs);
void h(
    c10::optional<at::ScalarType> dtype,
    const c10::List<double>& l,
    const at::Scalar& v);
auto t(at::TensorList xs) -> at::Tensor {
  return xs[0];
}
at::Tensor n(
    at::Tensor,
    const at::Tensor&,
    int64_t from,
    double,
    bool,
    at::ScalarType);
at::Tensor d(at::Tensor x, int64_t);
at::Tensor d(at::Tensor self, int64_t) {
  return self;
}
at::Tensor d(at::Tensor, int64_t dim);
} // namespace mylib

TORCH_LIBRARY(mylib, m) {
  m.def("f", &mylib::f);
  m.def("g", TORCH_FN(mylib::g));
  m.def("h", mylib::h);
  // Arguments without a name are called after their types, and others as the definition calls them.
  m.def("n", &mylib::n);
  m.def("d", &mylib::d);
}

static auto registry =
    torch::RegisterOperators()
        .op("mylib::t", &mylib::t)
        .op("mylib::u(Tensor x, int k) -> Tensor", &mylib::u);
