# What find_package(torchgen_lite) reads. `torchgen-lite list cmake-dir` prints this folder.
include("${CMAKE_CURRENT_LIST_DIR}/torchgen_lite.cmake")

# The dispatcher of docs/cpp-runtime.md, headers only.
if(NOT TARGET torchgen_lite::runtime)
  add_library(torchgen_lite::runtime INTERFACE IMPORTED)
  target_include_directories(
    torchgen_lite::runtime INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../cpp/include")
  target_compile_features(torchgen_lite::runtime INTERFACE cxx_std_17)
  # Registrations may come from several threads. FindThreads has to be able to compile.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CXX" IN_LIST languages OR "C" IN_LIST languages)
    find_package(Threads QUIET)
  endif()
  if(TARGET Threads::Threads)
    target_link_libraries(torchgen_lite::runtime INTERFACE Threads::Threads)
  endif()
endif()
