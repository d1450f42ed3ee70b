#include <toy/functions.h>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <string>

#include "logging.h"

using toy::Tensor;
namespace f = toy::functions;

namespace {

void show(const std::string& name, const Tensor& tensor) {
  std::cout << name << " = [";
  const char* comma = "";
  for (std::size_t i = 0; i < tensor.numel(); ++i) {
    std::cout << comma << tensor.data()[i];
    comma = ", ";
  }
  std::cout << "]\n";
}

Tensor tensor(std::initializer_list<float> values) {
  Tensor out({static_cast<int64_t>(values.size())}, toy::Device::CPU);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

} // namespace

int main() {
  std::cout << "Functions and methods\n";
  Tensor x = tensor({1, -2, 3});
  const Tensor y = tensor({10, 20, 30});
  show("x + y", f::add(x, y));
  show("x + 0.5 * y", x.add(y, 0.5));
  show("relu(x)", x.relu());
  show("concat", f::concat({x, y}));
  show("full", f::full({2, 2}, 7).fill_(8));

  std::cout << "Shapes without numbers\n";
  const Tensor meta = f::full({1000, 1000}, 0, toy::Device::Meta);
  std::cout << "sum of " << meta.add(meta).numel() << " elements has "
            << meta.sum().numel() << "\n";

  std::cout << "Gradients\n";
  x.set_requires_grad();
  const Tensor loss = f::affine(x, y, x).relu().sum();
  show("loss", loss);
  loss.backward(f::full({}, 1));
  show("x.grad", x.grad());

  std::cout << "Every call, with what it calls\n";
  {
    const toy::LoggingMode mode;
    f::affine(x, y, x).sum();
    f::concat({x, y});
    f::full({2}, 1.5);
  }

  std::cout << "Mistakes\n";
  try {
    f::concat({});
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::cout << text.substr(0, text.find('\n')) << "\n";
  }
  return 0;
}
