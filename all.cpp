#include <my/functions.h>
#include "cpp-torch/src/*.cpp"
