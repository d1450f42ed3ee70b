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
  void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::cout << dlerror() << "\n";
    return 1;
  }
  std::cout << callF() << "\n";

  // Closed, it stays, and so does what it registered: a kernel of the host's
  // operator, and an operator whose signature nobody else has.
  dlclose(plugin);
  std::cout << callF() << "\n";
  const OperatorHandle own =
      Dispatcher::singleton().findSchemaOrThrow("plugin::own");
  try {
    Library(Library::IMPL, "plugin", DispatchKey::CPU).impl("own", [](float) {
      return 1.0F;
    });
    std::cout << "a kernel of another signature was taken\n";
    return 1;
  } catch (const Error&) {
  }
  plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  std::cout << callF() << " " << own.dumpComputedTable().empty() << "\n";
  dlclose(plugin);
}
