// The kernels that ops.yaml names.
#include <mylib/tensor.h>

#include <torchgen_lite/runtime.h>

namespace mylib {

Tensor scale_cpu(const Tensor& self, double factor) {
  Tensor out = self;
  for (double& value : out.data) {
    value *= factor;
  }
  return out;
}

Tensor scale_meta(const Tensor& self, double) {
  return self;
}

} // namespace mylib

// Tensors have the autograd key of their backend. Operators without a kernel for
// Autograd fall through at that key, and their results have no gradient.
TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradCPU, m) {
  m.fallback(torchgen_lite::fallthrough());
}
TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradMeta, m) {
  m.fallback(torchgen_lite::fallthrough());
}

#include <mylib/verify_kernels.h>
