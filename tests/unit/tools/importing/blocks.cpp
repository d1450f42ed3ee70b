// The heads of blocks, and the ways to write a schema.
#include <torch/library.h>

namespace mylib {

static const std::vector<at::Tag> our_tags = {
    at::Tag::core,
    at::Tag::pointwise};
at::Tensor about(at::Tag tag);
at::Tensor scale_cpu(const at::Tensor& x, double s);
at::Tensor scale_cuda(const at::Tensor& x, double s);
at::Tensor scale_any(const at::Tensor& x, double s);
at::Tensor scale_stable(const at::Tensor& x, double s);

TORCH_LIBRARY(mylib, m) {
  // Multiplies by a number.
  m.def(
      "scale(Tensor x, "
      "float s=1.0) -> Tensor");

  library.def("not_ours() -> ()");
  /* Writes to `out`:
   * the same. */
  m.def(
      "scale.out(Tensor x, float s, *, " // a comment between literals
      "Tensor(a!) out) -> Tensor(a!)");
  m.def(R"(longer(Tensor x,
      int[] sizes) -> Tensor)"); // behind its statement
  m.def(TORCH_SELECTIVE_SCHEMA("mylib::written(Tensor(a!) x) -> ()"));
  m.def("first(str s=\"a: b\") -> ()").def("second() -> ()");
}

TORCH_LIBRARY_FRAGMENT(mylib, anything) {
  anything.def(
      "nothing(Tensor! x) -> ()",
      {at::Tag::pt2_compliant_tag, torch::Tag::core});
}

TORCH_LIBRARY_FRAGMENT(tagged, m) {
  constexpr auto local = at::Tag::view_copy;
  m.def("both(Tensor x) -> Tensor", our_tags);
  m.def("one(Tensor x) -> Tensor", local);
  m.def("kernel(int tag) -> Tensor", mylib::about);
}

STABLE_TORCH_LIBRARY_FRAGMENT(other, m) {
  m.def("scale(Tensor x, float s) -> Tensor");
}

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", scale_cpu);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("mul.Scalar", TORCH_FN(scale_any));
}

} // namespace mylib

STABLE_TORCH_LIBRARY_IMPL(other, CUDA, m) {
  m.impl("scale", TORCH_BOX(&mylib::scale_stable));
}
