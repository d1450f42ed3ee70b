// The whole dispatcher. ARCHITECTURE and API: docs/cpp-runtime.md.
#pragma once

#include <torchgen_lite/library.h>
