// Reads calls, one a line, and prints what each operator of `every` returns: 1,
// 0, or e for an exception.
#include <framework.h>
#include <sel/operators.h>
#include <torchgen_lite/errors.h>

#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

int64_t number(std::istream& in) {
  int64_t value;
  in >> value;
  return value;
}

std::vector<int64_t> numbers(std::istream& in) {
  std::vector<int64_t> found;
  for (auto count = number(in); count > 0; --count) {
    found.push_back(number(in));
  }
  return found;
}

fw::Tensor tensor(std::istream& in) {
  fw::Tensor made{};
  made.dtype = static_cast<fw::Dtype>(number(in));
  made.sizes = numbers(in);
  made.strides = numbers(in);
  made.offset = number(in);
  made.needs_gradient = number(in) != 0;
  return made;
}

template <class Read>
auto possible(std::istream& in, Read read)
    -> std::optional<decltype(read(in))> {
  if (number(in) == 0) {
    return std::nullopt;
  }
  return read(in);
}

int main() {
  using Call = decltype(&sel::ops::c0::call);
  const Call every[] = {EVERY};
  const std::string modes[] = {"fast", "", "it\"s"};
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    const auto x = tensor(in);
    const auto w = possible(in, tensor);
    const auto n = number(in);
    const auto k = possible(in, number);
    const auto m = number(in);
    const auto s = numbers(in);
    const auto r = possible(in, numbers);
    double f;
    in >> f;
    const bool flag = number(in) != 0;
    const auto mode = number(in);
    const auto dtype = possible(in, number);
    double a;
    in >> a;
    std::optional<torchgen_lite::Span<int64_t>> list;
    if (r) {
      list = *r;
    }
    std::optional<fw::Dtype> wanted;
    if (dtype) {
      wanted = static_cast<fw::Dtype>(*dtype);
    }
    for (const auto call : every) {
      try {
        std::cout
            << call(x, w, n, k, m, s, list, f, flag, modes[mode], wanted, a);
      } catch (const std::logic_error&) {
        std::cout << 'e';
      }
    }
    std::cout << "\n";
  }
  try {
    sel::ops::partial::call(
        fw::Tensor{fw::Dtype::half, {4, 12}, {12, 1}, 0, false},
        {},
        3);
  } catch (const torchgen_lite::MissingKernelError& error) {
    std::cout << error.what() << "\n";
  }
}
