#pragma once

#include <torch/csrc/stable/version.h>

// 21300 for 2.13.0. Conditions compare numbers, as headers have no names for
// later releases than their own.
#define TORCHGEN_LITE_STABLE_VERSION                        \
  (TORCH_FEATURE_VERSION / 0x0100000000000000 * 10000 +     \
   TORCH_FEATURE_VERSION / 0x0001000000000000 % 256 * 100 + \
   TORCH_FEATURE_VERSION / 0x0000010000000000 % 256)

#if TORCH_FEATURE_VERSION > TORCH_ABI_VERSION
#error TORCH_TARGET_VERSION is later than the release of these headers
#endif
