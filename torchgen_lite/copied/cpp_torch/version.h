#pragma once

#include <torch/version.h>

// 21300 for 2.13.0.
#ifndef TORCHGEN_LITE_TORCH_VERSION
#define TORCHGEN_LITE_TORCH_VERSION                          \
  (TORCH_VERSION_MAJOR * 10000 + TORCH_VERSION_MINOR * 100 + \
   TORCH_VERSION_PATCH)
#endif
