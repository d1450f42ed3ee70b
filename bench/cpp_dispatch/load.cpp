// Loads the library of calls.cpp, its first argument, and runs it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto run = reinterpret_cast<void (*)(int)>(dlsym(library, "runRounds"));
  run(std::atoi(arguments[2]));
}
