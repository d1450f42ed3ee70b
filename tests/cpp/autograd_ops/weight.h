#pragma once

#include <torch/custom_class.h>

namespace scales {

struct Weight : torch::CustomClassHolder {
  explicit Weight(double value) : value(value) {}
  double value;
};

} // namespace scales
