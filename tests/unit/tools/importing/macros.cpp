// Macros of the file and of the command line.
#include <torch/library.h>

#define CONCAT(a, b) a##b
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define SIZE 4
#ifdef HAS_TAGS
#define TAGS at::Tag::pt2_compliant_tag
#else
#define TAGS
#endif
#define DEFINE(n)                                                      \
  m.def(                                                               \
      "pack_" #n "bit(Tensor x, int size=" STRING(SIZE) ") -> Tensor", \
      {TAGS});                                                         \
  m.impl("pack_" #n "bit", torch::kCPU, &pack_##n##bit);
#define BLOCK(ns, key, f)          \
  TORCH_LIBRARY_IMPL(ns, key, m) { \
    m.impl("f", f);                \
  }

namespace mylib {
at::Tensor f(const at::Tensor& x);
at::Tensor pack_2bit(const at::Tensor& x, int64_t size);
at::Tensor pack_3bit(const at::Tensor& x, int64_t size);

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) {
  m.def("f(Tensor x) -> Tensor");
  ON_CPU("f", f);
  DEFINE(2)
  DEFINE(3);
}

BLOCK(mylib, CONCAT(Me, ta), &f)
} // namespace mylib
