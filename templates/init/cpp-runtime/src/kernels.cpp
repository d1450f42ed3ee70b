// The kernels that ops.yaml names.
#include <mylib/tensor.h>

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

#include <mylib/verify_kernels.h>
