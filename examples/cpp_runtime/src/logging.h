#pragma once

#include <torchgen_lite/local_state.h>

namespace toy {

// While one of these lives, the calls of this thread are printed.
class LoggingMode {
  torchgen_lite::IncludeDispatchKeyGuard guard_{
      torchgen_lite::DispatchKey::TESTING_ONLY_GenericMode};
};

} // namespace toy
