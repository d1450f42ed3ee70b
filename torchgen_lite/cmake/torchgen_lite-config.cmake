# What find_package(torchgen_lite) reads. `torchgen-lite list cmake-dir` prints this folder.
include("${CMAKE_CURRENT_LIST_DIR}/torchgen_lite.cmake")

# The dispatcher of docs/cpp-runtime.md, headers only.
if(NOT TARGET torchgen_lite::runtime)
  add_library(torchgen_lite::runtime INTERFACE IMPORTED)
  target_include_directories(
    torchgen_lite::runtime INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../cpp/include")
  target_compile_features(torchgen_lite::runtime INTERFACE cxx_std_17)
endif()

# Registrations may come from several threads. A project that only generates has no language,
# and FindThreads needs one.
get_property(torchgen_lite_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(torchgen_lite_languages MATCHES "(^|;)(C|CXX)(;|$)"
   AND NOT TARGET Threads::Threads)
  find_package(Threads QUIET)
endif()
get_target_property(torchgen_lite_linked torchgen_lite::runtime INTERFACE_LINK_LIBRARIES)
if(TARGET Threads::Threads AND NOT torchgen_lite_linked)
  target_link_libraries(torchgen_lite::runtime INTERFACE Threads::Threads)
endif()
unset(torchgen_lite_languages)
unset(torchgen_lite_linked)
