// What generated code and these headers expect of each other, as a number: it
// grows with a change that code generated before it, or for it, does not compile
// or run with. operators.cpp has the number of its templates.
#pragma once

#define TORCHGEN_LITE_INTERFACE 1
