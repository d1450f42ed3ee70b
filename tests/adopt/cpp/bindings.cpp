// The registrations that torchgen-lite takes the place of, in the ways that libraries write them.
#include "kernels.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define DEFAULT_SIZE 8
#define DEFINE_PACK(n)                                               \
  m.def(                                                             \
      "pack_" #n                                                     \
      "bit(Tensor x, int size=" STRING(DEFAULT_SIZE) ") -> Tensor"); \
  m.impl(                                                            \
      "pack_" #n "bit",                                              \
      torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(adopt::pack_##n##bit)));
#define TORCH_LIBRARY_EXPAND(name, m) TORCH_LIBRARY(name, m)

TORCH_LIBRARY_EXPAND(EXTENSION_NAME, m) {
  // a * b + s in one pass.
  m.def(
      "muladd(Tensor a, Tensor b, "
      "float s=1.0) -> Tensor",
      {at::Tag::pt2_compliant_tag});
  m.impl("muladd", at::kCPU, &adopt::muladd_cpu);
  m.def("scale.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)");
  m.def(
      TORCH_SELECTIVE_SCHEMA("adopt::fill(Tensor(a!) x, Scalar value) -> ()"));
  m.def(R"(count(Tensor x,
                 int? dim=None) -> (Tensor, int))");
  m.def("norm(Tensor x, str kind=\"max\") -> Tensor", &adopt::norm);
  m.def("total(Tensor[] xs) -> Tensor")
      .def("pick(Tensor x, int[] indices) -> Tensor");
  m.def(
      "halves(Tensor x) -> Tensor[]",
      torch::dispatch(at::kCPU, TORCH_FN(adopt::halves)));
  m.def("inferred", &adopt::detail::inferred);
  m.def("sum_all(Tensor x) -> Tensor");
  m.impl("sum_all", TORCH_FN(adopt::sum_all));
  DEFINE_PACK(2)
  DEFINE_PACK(4);
  m.def("twice(Tensor x) -> Tensor");
  m.def("thrice(Tensor x) -> Tensor");
#ifdef WITH_MORE
#if WITH_MORE > 1 && defined(__GNUC__)
  m.def("under_condition(Tensor x) -> Tensor");
  m.impl("under_condition", at::kCPU, &adopt::under_condition);
#endif
#else
  m.def("without_more(Tensor x) -> Tensor");
#endif
#ifndef WITHOUT_CAST
  m.def("cast(Tensor x, ScalarType dtype) -> Tensor");
  m.impl("cast", at::kCPU, &adopt::cast);
#endif
}

TORCH_LIBRARY_FRAGMENT(adopt, fragment) {
  fragment.def("maybe_add(Tensor x, Tensor? y=None) -> Tensor");
  fragment.def("is_even(int n) -> bool", &adopt::is_even);
  fragment.def("declared(Tensor x) -> Tensor");
}

namespace adopt {

TORCH_LIBRARY_IMPL(adopt, CPU, m) {
  m.impl("scale.out", scale_out);
  m.impl(TORCH_SELECTIVE_NAME("adopt::fill"), TORCH_FN(fill_cpu));
  m.impl("adopt::count", &count);
  m.impl("twice", ops_of_mine::twice);
  m.impl("maybe_add", maybe_add);
  m.impl("thrice", ::adopt_thrice);
}

TORCH_LIBRARY_IMPL(adopt, CompositeExplicitAutograd, m) {
  m.impl(
      "total",
      static_cast<at::Tensor (*)(const std::vector<at::Tensor>&)>(&total));
  m.impl("pick", &Selection::pick);
}

TORCH_LIBRARY_IMPL(adopt, Meta, m) {
  m.impl("muladd", TORCH_FN(muladd_meta));
}

} // namespace adopt
