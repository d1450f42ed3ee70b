// Functions that blocks give names, keys and kernels to, and variables of blocks.
#include <torch/library.h>

namespace k {
at::Tensor neg(const at::Tensor& x);
at::Tensor abs(const at::Tensor& x);

void one(
    torch::Library& m,
    const char* name,
    at::Tensor (*f)(const at::Tensor&)) {
#ifdef WITH_ONE
  m.impl(name, f);
#endif
}
} // namespace k

at::Tensor f(const at::Tensor& x);

template <typename F>
void wrapped(torch::Library& m, const std::string& schema, F&& function) {
  m.def(schema, std::forward<F>(function));
}

void keyed(torch::Library& m, const char* name, c10::DispatchKey key) {
  m.impl(name, key, &k::neg);
}

void twice(torch::Library& m, const char* name) {
  keyed(m, name, c10::DispatchKey::Meta);
  m.impl(name, torch::kCUDA, f);
}

template <auto* F>
void typed(torch::Library& m, const char* name) {
  m.impl(name, torch::kXPU, TORCH_FN(F));
}

template <typename T>
void of_class(torch::Library& m, const char* name) {
  m.impl(name, torch::kMPS, &T::run);
}

void unnamed(torch::Library& m, const std::string& schema) {
  m.def(schema.c_str());
}

void by_default(
    torch::Library& m,
    const char* name = "by_default(Tensor x) -> Tensor") {
  m.def(name);
}

TORCH_LIBRARY(lib, m) {
  m.def("neg(Tensor x) -> Tensor");
  m.def("abs(Tensor x) -> Tensor");
#ifdef WITH_ONE
  m.def("one(Tensor x) -> Tensor");
#endif
  wrapped(m, "wrapped(Tensor x) -> Tensor", &f);
  wrapped(m, "more(Tensor x) -> Tensor", &k::abs);
  twice(m, "neg");
  typed<&k::abs>(m, "abs");
  of_class<Run>(m, "abs");
  unnamed(m, "unnamed(Tensor x) -> Tensor");
  by_default(m);
}

TORCH_LIBRARY_IMPL(lib, CPU, m) {
  k::one(m, "one", &f);
  auto f = &k::abs;
  m.impl("abs", f);
  const char* name = "neg";
  m.impl(name, &k::neg);
}

TORCH_LIBRARY_IMPL(lib, HPU, m) {
  const char* name = "neg";
  m.impl(name, &k::neg);
  name = "abs";
  auto g = &k::neg;
  m.impl("abs", g);
  g = &k::abs;
  at::Tensor (*h)(const at::Tensor&) = &k::neg;
  h = &k::abs;
  m.impl("neg", h);
}

// The variables of another block mean nothing here.
at::Tensor name(const at::Tensor& x);
at::Tensor g(const at::Tensor& x);

TORCH_LIBRARY_IMPL(lib, IPU, m) {
  m.impl("neg", name);
  m.impl("abs", g);
}
