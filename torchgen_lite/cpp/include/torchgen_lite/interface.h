// The version of the interface between generated code and these headers. It
// increases with every incompatible change; operators.cpp has the number that
// its templates are written for.
#pragma once

#define TORCHGEN_LITE_INTERFACE 1
