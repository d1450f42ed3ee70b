#pragma once

// Messages about a kernel show its schema, and not this file.
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include "kernel_numbers.h"

#include <ATen/core/ATen_fwd.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace c10 {
template <class Key, class Value>
class Dict;
} // namespace c10

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// Which C++ types may stand for each other in a kernel. libtorch registers a
// kernel if it takes all of its types for those of the schema, and passes each as
// the kernel has it. Two types may stand for each other if `meant` is the same.
//
// Numbers that libtorch does not pass are converted (`kernel_numbers.h`).
// A kernel takes either symbolic integers for every `SymInt`, or `int64_t`.
// libtorch also lets `int64_t` stand for `at::ScalarType`, `at::Layout` and
// `at::MemoryFormat`, and `int8_t` for `int64_t`. These mean something else: the
// number of a dtype, and the lower bits of a number, which are converted instead.
template <class Value>
struct value_meant {
  using type = Value;
};

// Arguments are taken by value or as what a temporary value may be bound to, and
// tensors by any reference.
template <class Type>
struct type_meant : value_meant<Type> {};

template <class Value>
struct type_meant<const Value&> : value_meant<Value> {};

template <class Value>
struct type_meant<Value&&> : value_meant<Value> {};

template <class Type>
using meant_by_libtorch = typename type_meant<Type>::type;

template <class Type>
using meant = meant_by_libtorch<wide<Type>>;

template <class Value>
using element_meant = typename value_meant<Value>::type;

template <class Element>
struct list {};

template <class Element>
struct optional {};

template <>
struct type_meant<at::Tensor&> : value_meant<at::Tensor> {};

// Symbolic integers are taken as these types alone.
template <class Type>
struct unmeant {
  using type = Type;
};

template <>
struct type_meant<const c10::SymInt&> : unmeant<const c10::SymInt&> {};

template <>
struct type_meant<const std::optional<c10::SymInt>&>
    : unmeant<const std::optional<c10::SymInt>&> {};

template <>
struct value_meant<c10::SymIntArrayRef> : unmeant<c10::SymIntArrayRef> {};

template <>
struct type_meant<const c10::SymIntArrayRef&>
    : unmeant<const c10::SymIntArrayRef&> {};

template <>
struct type_meant<const at::OptionalSymIntArrayRef&>
    : unmeant<const at::OptionalSymIntArrayRef&> {};

template <>
struct value_meant<std::string> : value_meant<std::string_view> {};

template <class Element>
struct value_meant<std::optional<Element>> {
  using type = optional<element_meant<Element>>;
};

template <class Element>
struct value_meant<std::vector<Element>> {
  using type = list<element_meant<Element>>;
};

template <class Element>
struct value_meant<c10::ArrayRef<Element>> {
  using type = list<element_meant<Element>>;
};

template <class Element>
struct value_meant<c10::List<Element>> {
  using type = list<element_meant<Element>>;
};

template <class Element>
struct value_meant<c10::IListRef<Element>> {
  using type = list<element_meant<Element>>;
};

template <class Element, std::size_t size>
struct value_meant<std::array<Element, size>> {
  using type = list<element_meant<Element>>;
};

template <class Key, class Value>
struct value_meant<c10::Dict<Key, Value>> {
  using type = c10::Dict<element_meant<Key>, element_meant<Value>>;
};

template <>
struct value_meant<c10::OptionalArrayRef<int64_t>>
    : value_meant<std::optional<std::vector<int64_t>>> {};

// No generator is an undefined one.
template <>
struct value_meant<at::Generator> {
  using type = optional<at::Generator>;
};

template <>
struct value_meant<std::optional<at::Generator>> : value_meant<at::Generator> {
};

// libtorch refuses to compile these.
template <>
struct value_meant<std::vector<bool>> : unmeant<std::vector<bool>> {};

template <>
struct value_meant<c10::ArrayRef<bool>> : unmeant<c10::ArrayRef<bool>> {};

template <class Element>
struct value_meant<c10::ArrayRef<c10::ArrayRef<Element>>>
    : unmeant<c10::ArrayRef<c10::ArrayRef<Element>>> {};

template <>
struct value_meant<c10::List<at::Scalar>> : unmeant<c10::List<at::Scalar>> {};

template <std::size_t size>
struct value_meant<std::array<at::Scalar, size>>
    : unmeant<std::array<at::Scalar, size>> {};

template <class... Elements>
struct value_meant<std::tuple<Elements...>> {
  using type = std::tuple<meant_by_libtorch<Elements>...>;
};

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE
