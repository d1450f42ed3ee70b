// The identity and the name of a C++ type, with or without RTTI.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#if defined(__GXX_RTTI) || defined(__cpp_rtti) || defined(_CPPRTTI)
#define TORCHGEN_LITE_RTTI
#include <typeinfo>
#if defined(__GNUC__) || defined(__clang__)
#define TORCHGEN_LITE_CXXABI
#include <cxxabi.h>
#endif
#endif

namespace torchgen_lite {
namespace detail {

// A type as the compiler writes it.
template <class Wanted>
std::string_view typeName() {
#if defined(_MSC_VER) && !defined(__clang__)
  const std::string_view text = __FUNCSIG__;
  const std::string_view before = "typeName<";
  const std::string_view after = ">(void)";
#else
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::string_view before = "Wanted = ";
#endif
  const std::size_t start = text.find(before) + before.size();
#if defined(_MSC_VER) && !defined(__clang__)
  return text.substr(start, text.rfind(after) - start);
#else
  // Arrays contain brackets, so the end is a semicolon, or the last bracket.
  const std::size_t semicolon = text.find(';', start);
  return text.substr(
      start,
      (semicolon == std::string_view::npos ? text.rfind(']') : semicolon) -
          start);
#endif
}

// Of a function type, or of an object type without const.
class TypeId final {
 public:
  template <class T>
  static constexpr TypeId of() {
#ifdef TORCHGEN_LITE_RTTI
    return TypeId(&typeid(T));
#else
    return TypeId(&typeName<T>);
#endif
  }

  bool operator==(const TypeId& other) const {
#ifdef TORCHGEN_LITE_RTTI
    return *known_ == *other.known_;
#else
    return known_() == other.known_();
#endif
  }
  bool operator!=(const TypeId& other) const {
    return !(*this == other);
  }

  // The type as it is written in C++, if the system can demangle it.
  std::string text() const {
#ifdef TORCHGEN_LITE_CXXABI
    int status = 0;
    char* const readable =
        abi::__cxa_demangle(known_->name(), nullptr, nullptr, &status);
    const std::string text = status == 0 ? readable : known_->name();
    std::free(readable);
    return text;
#elif defined(TORCHGEN_LITE_RTTI)
    return known_->name();
#else
    return std::string(known_());
#endif
  }

 private:
#ifdef TORCHGEN_LITE_RTTI
  using Known = const std::type_info*;
#else
  using Known = std::string_view (*)();
#endif

  constexpr explicit TypeId(Known known) : known_(known) {}

  Known known_;
};

} // namespace detail
} // namespace torchgen_lite
