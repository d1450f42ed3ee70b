// A program of two translation units (the other is host_schema.cpp) that loads
// plugin.cpp, whose path is its argument.
#include <torchgen_lite/runtime.h>

#include <dlfcn.h>

#include <iostream>

using namespace torchgen_lite;

int callF();

int main(int, char** arguments) {
  const IncludeDispatchKeyGuard guard(DispatchKey::HIP);
  try {
    callF();
    std::cout << "there is a kernel before the plugin is loaded\n";
    return 1;
  } catch (const MissingKernelError&) {
  }
  if (dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::cout << dlerror() << "\n";
    return 1;
  }
  std::cout << callF() << "\n";
}
