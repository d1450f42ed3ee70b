// Matrices of Eigen as tensors: typed and boxed calls, lists, and no copies.
#include <torchgen_lite/runtime.h>

#include <Eigen/Core>

#include <iostream>

using namespace torchgen_lite;

template <class T, int... Sizes>
struct torchgen_lite::KeysetOf<Eigen::Matrix<T, Sizes...>> {
  static DispatchKeySet get(const Eigen::Matrix<T, Sizes...>&) noexcept {
    return DispatchKeySet(DispatchKey::CPU);
  }
};

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

StaticOperatorHandle<MatrixXd(const MatrixXd&, const MatrixXd&)> add(
    "eigen::add");
StaticOperatorHandle<MatrixXd&(MatrixXd&, double)> scale_("eigen::scale_");
StaticOperatorHandle<double(Span<Vector3d>)> total("eigen::total");

MatrixXd addCpu(const MatrixXd& self, const MatrixXd& other) {
  return self + other;
}
MatrixXd& scaleCpu(MatrixXd& self, double factor) {
  self *= factor;
  return self;
}
double totalCpu(Span<Vector3d> vectors) {
  double sum = 0;
  for (const Vector3d& vector : vectors) {
    sum += vector.sum();
  }
  return sum;
}

TORCHGEN_LITE_LIBRARY(eigen, m) {
  m.def("add(Tensor self, Tensor other) -> Tensor");
  m.def("scale_(Tensor(a!) self, float factor) -> Tensor(a!)");
  m.def("total(Tensor[] vectors) -> float");
  m.impl("add", DispatchKey::CPU, TORCHGEN_LITE_FN(addCpu));
  m.impl("scale_", DispatchKey::CPU, TORCHGEN_LITE_FN(scaleCpu));
  m.impl("total", DispatchKey::CPU, TORCHGEN_LITE_FN(totalCpu));
}
TORCHGEN_LITE_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(
      boxed([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        op.redispatchBoxed(
            keys.remove(DispatchKey::TESTING_ONLY_GenericMode),
            stack);
      }));
}

void run() {
  MatrixXd x = MatrixXd::Constant(2, 2, 3);
  const double* data = x.data();
  std::cout << add.call(x, MatrixXd::Identity(2, 2)).sum() << " ";
  MatrixXd& same = scale_.call(x, 2);
  std::cout << (&same == &x && x.data() == data) << " " << x.sum() << " ";
  const Vector3d vectors[] = {Vector3d(1, 2, 3), Vector3d(4, 5, 6)};
  std::cout << total.call(vectors) << "\n";
}

} // namespace

int main() {
  run();
  const IncludeDispatchKeyGuard boxing(DispatchKey::TESTING_ONLY_GenericMode);
  run();
}
