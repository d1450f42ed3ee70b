// Calls every operator. The exit code is 0 if the results are right.
#include <mylib/functions.h>

int main() {
  const mylib::Tensor x{{1.0, 2.0}, 2, false};
  const mylib::Tensor out = mylib::functions::scale(x, 3.0);
  const mylib::Tensor meta = mylib::functions::scale({{}, 5, true});
  const bool is_right = out.data == std::vector<double>{3.0, 6.0};
  return is_right && meta.size == 5 ? 0 : 1;
}
