// Whatever compilers spell differently.
#pragma once

// Defines __GLIBC__ where it exists.
#include <cstdint>

#if defined(__GNUC__) || defined(__clang__)
#define TORCHGEN_LITE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define TORCHGEN_LITE_ALWAYS_INLINE inline __attribute__((always_inline))
#define TORCHGEN_LITE_NOINLINE __attribute__((noinline))
#define TORCHGEN_LITE_COLD __attribute__((noinline, cold))
// One dispatcher and one local state for all shared libraries of a process,
// whatever visibility they are compiled with.
#define TORCHGEN_LITE_API __attribute__((visibility("default")))
#elif defined(_MSC_VER)
#define TORCHGEN_LITE_UNLIKELY(condition) (!!(condition))
#define TORCHGEN_LITE_ALWAYS_INLINE __forceinline
#define TORCHGEN_LITE_NOINLINE __declspec(noinline)
#define TORCHGEN_LITE_COLD __declspec(noinline)
#define TORCHGEN_LITE_API
#else
#define TORCHGEN_LITE_UNLIKELY(condition) (!!(condition))
#define TORCHGEN_LITE_ALWAYS_INLINE inline
#define TORCHGEN_LITE_NOINLINE
#define TORCHGEN_LITE_COLD
#define TORCHGEN_LITE_API
#endif

// Code of a shared library finds thread-local variables by calling a function.
// In the initial-exec model this is a single load, which takes 24 bytes of the
// space that glibc reserves for libraries that are loaded at run time. Other C
// libraries reserve none, so there the function is called; define
// TORCHGEN_LITE_TLS_DYNAMIC to call it everywhere.
#if defined(__GLIBC__) && defined(__PIC__) && !defined(__PIE__) && \
    !defined(TORCHGEN_LITE_TLS_DYNAMIC)
#define TORCHGEN_LITE_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TORCHGEN_LITE_TLS_MODEL
#endif

#define TORCHGEN_LITE_CONCAT_(a, b) a##b
#define TORCHGEN_LITE_CONCAT(a, b) TORCHGEN_LITE_CONCAT_(a, b)
