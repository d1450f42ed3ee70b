// The identity and the name of a C++ type, with run-time type information or
// without.
#pragma once

#include <string>
#include <string_view>

#if defined(__GXX_RTTI) || defined(__cpp_rtti) || defined(_CPPRTTI)
#define TORCHGEN_LITE_RTTI
#include <typeinfo>
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
  // Arrays have brackets of their own, so the end is a semicolon, or the last.
  const std::size_t semicolon = text.find(';', start);
  return text.substr(
      start,
      (semicolon == std::string_view::npos ? text.rfind(']') : semicolon) -
          start);
#endif
}

class TypeId final {
 public:
  // typeid drops references and const at the top.
  template <class T>
  struct Of {};

  template <class T>
#ifdef TORCHGEN_LITE_RTTI
  constexpr explicit TypeId(Of<T>*) : info_(&typeid(Of<T>)) {
  }
#else
  constexpr explicit TypeId(Of<T>*) : name_(&typeName<T>) {
  }
#endif

  template <class T>
  static constexpr TypeId of() {
    return TypeId(static_cast<Of<T>*>(nullptr));
  }

  bool operator==(const TypeId& other) const {
#ifdef TORCHGEN_LITE_RTTI
    return *info_ == *other.info_;
#else
    return name_() == other.name_();
#endif
  }
  bool operator!=(const TypeId& other) const {
    return !(*this == other);
  }

 private:
#ifdef TORCHGEN_LITE_RTTI
  const std::type_info* info_;
#else
  std::string_view (*name_)();
#endif
};

} // namespace detail
} // namespace torchgen_lite
