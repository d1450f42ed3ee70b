#pragma once

// Messages about a kernel show its schema, and not the macros below.
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include <cstddef>
#include <tuple>
#include <type_traits>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::proof {

// Stands in for a kernel that the file does not declare.
struct not_here {};

// Another overload, which takes 0, is declared where every kernel is.
not_here declares_kernels(...);

// The verdict on a kernel: as its schema requires (or absent here), or not.
struct as_demanded {};

template <class Return, class... Arguments>
struct otherwise {};

// Several overloads of which none fits, or a kernel that is hidden.
struct none_of_several {};

// look<Schema>::of(&kernel), of which only the result type is used. Of several
// overloads, the one with the right type is taken.
template <class Schema>
struct look {
  static as_demanded of(Schema*);
  static as_demanded of(const not_here*);

  template <class Return, class... Arguments>
  static otherwise<Return, Arguments...> of(Return (*)(Arguments...));
};

// What the schema requires next to what was found, one argument at a time.
template <class Schema, class Found>
struct kernel;

template <class Return, class... Arguments>
struct kernel<Return(Arguments...), as_demanded> {
  using expected_type = Return(Arguments...);
  using found_type = expected_type;
  using expected_return = Return;
  using found_return = Return;

  template <std::size_t index>
  using expected = std::tuple_element_t<index, std::tuple<Arguments...>>;

  template <std::size_t index>
  using found = expected<index>;
};

// If the number of arguments differs, they cannot be compared, and pass.
template <class Return, class... Arguments, class Other, class... Others>
struct kernel<Return(Arguments...), otherwise<Other, Others...>>
    : kernel<Return(Arguments...), as_demanded> {
  using found_type = Other(Others...);
  using found_return = Other;

  template <std::size_t index>
  using found = std::tuple_element_t<
      index,
      std::conditional_t<
          sizeof...(Arguments) == sizeof...(Others),
          std::tuple<Others...>,
          std::tuple<Arguments...>>>;
};

template <class Schema>
struct kernel<Schema, none_of_several> : kernel<Schema, as_demanded> {
  using found_type = none_of_several;
};

// Which of two function types the author has in mind: the other one, if an
// argument is of a type that only that one has there.
template <class Schema, class Other, class Found>
struct is_other : std::false_type {};

template <
    class Return,
    class Argument,
    class... Arguments,
    class Other,
    class... Others,
    class Result,
    class Found,
    class... Rest>
struct is_other<
    Return(Argument, Arguments...),
    Return(Other, Others...),
    otherwise<Result, Found, Rest...>>
    : std::bool_constant<
          (std::is_same_v<Other, Found> && !std::is_same_v<Other, Argument>) ||
          is_other<
              Return(Arguments...),
              Return(Others...),
              otherwise<Result, Rest...>>::value> {};

template <class Schema, class Other, class Found>
using meant_by =
    std::conditional_t<is_other<Schema, Other, Found>::value, Other, Schema>;

template <class Found>
struct arity {
  static constexpr std::size_t value = static_cast<std::size_t>(-1);
};

template <class Return, class... Arguments>
struct arity<Return(Arguments...)> {
  static constexpr std::size_t value = sizeof...(Arguments);
};

// Compilers show the types for which a concept is false. Before C++20 it is a
// constant.
#if defined(__cpp_concepts) && __cpp_concepts >= 201907L
#define TORCHGEN_LITE_CONCEPT concept
#else
#define TORCHGEN_LITE_CONCEPT constexpr bool
#endif

template <class Found, class Expected>
TORCHGEN_LITE_CONCEPT fits = !std::is_same_v<Found, none_of_several>;

template <class Found, class Expected>
TORCHGEN_LITE_CONCEPT counts =
    !fits<Found, Expected> || arity<Found>::value == arity<Expected>::value;

template <class Found, class Expected>
TORCHGEN_LITE_CONCEPT takes = std::is_same_v<Found, Expected>;

template <class Found, class Expected>
TORCHGEN_LITE_CONCEPT gives = std::is_same_v<Found, Expected>;

// How types are compared where nothing may stand for them.
template <class Argument>
using as_is = Argument;

} // namespace TORCHGEN_LITE_NAMESPACE::proof

#undef TORCHGEN_LITE_NAMESPACE

// The schema is on the fourth line of a header, and its checks on the next one after
// this. nvcc knows of a macro only where it begins.
#ifdef __NVCC__
#define TORCHGEN_LITE_LINE 4
#else
#define TORCHGEN_LITE_LINE 3
#endif

// Each proof is in its own namespace, so that one file can have several.
#define TORCHGEN_LITE_JOIN(word, number) word##number
#define TORCHGEN_LITE_PROOF(number) TORCHGEN_LITE_JOIN(checks_, number)

// The proof of one kernel of a library, which is in the namespace `library`.
// `checks` stand where the schema has what they are about: `it<>` for the
// operator, `is<0>` for an argument, `result<>`. After what the kernel `must`,
// `messages` say the rest: how many arguments it takes, then one for each of the
// checks but the first. `keys` is a further check, of what precedes the arguments
// of the schema. `types` are in brackets, and `others` are the other types that
// the schema allows.
#define TORCHGEN_LITE_VERIFY(                                                  \
    library,                                                                   \
    id,                                                                        \
    must,                                                                      \
    checks,                                                                    \
    address,                                                                   \
    taken,                                                                     \
    returned,                                                                  \
    keys,                                                                      \
    types,                                                                     \
    others,                                                                    \
    messages)                                                                  \
  namespace library::proof::TORCHGEN_LITE_PROOF(__COUNTER__)::id {             \
  using schema = as_is<TORCHGEN_LITE_BARE types>;                              \
  template <class Schema>                                                      \
  auto look_up(int) -> decltype(look<Schema>::of(address));                    \
  template <class Schema>                                                      \
  none_of_several look_up(...);                                                \
  using seen = decltype(look_up<schema>(0));                                   \
  using both =                                                                 \
      kernel<meant_by<schema, as_is<TORCHGEN_LITE_BARE others>, seen>, seen>;  \
  template <std::size_t index>                                                 \
  TORCHGEN_LITE_CONCEPT is = takes<                                            \
      taken<typename both::template found<index>>,                             \
      taken<typename both::template expected<index>>>;                         \
  template <class Both = both>                                                 \
  TORCHGEN_LITE_CONCEPT result = gives<                                        \
      returned<typename Both::found_return>,                                   \
      returned<typename Both::expected_return>>;                               \
  namespace alone {                                                            \
  template <class Both = both>                                                 \
  TORCHGEN_LITE_CONCEPT it =                                                   \
      std::is_same_v<decltype(declares_kernels(0)), not_here>;                 \
  TORCHGEN_LITE_CHECK(                                                         \
      "include kernels.h or verify_kernels.h, not both: kernels.h declares ",  \
      TORCHGEN_LITE_HEAD checks,                                               \
      "every kernel")                                                          \
  }                                                                            \
  namespace found {                                                            \
  template <class Both = both>                                                 \
  TORCHGEN_LITE_CONCEPT it =                                                   \
      fits<typename Both::found_type, typename Both::expected_type>;           \
  TORCHGEN_LITE_CHECK(                                                         \
      must " have the types of the schema, and be in no unnamed namespace",    \
      TORCHGEN_LITE_HEAD checks,                                               \
      "")                                                                      \
  }                                                                            \
  namespace counted {                                                          \
  template <class Both = both>                                                 \
  TORCHGEN_LITE_CONCEPT it =                                                   \
      counts<typename Both::found_type, typename Both::expected_type> && keys; \
  TORCHGEN_LITE_CHECK(                                                         \
      must,                                                                    \
      TORCHGEN_LITE_HEAD checks,                                               \
      TORCHGEN_LITE_HEAD messages)                                             \
  }                                                                            \
  TORCHGEN_LITE_EXPAND(                                                        \
      TORCHGEN_LITE_NEXT TORCHGEN_LITE_NONE(                                   \
          must,                                                                \
          TORCHGEN_LITE_TAIL messages,                                         \
          TORCHGEN_LITE_REST checks, ))                                        \
  }

// Where a kernel is registered that one of the author's `headers` declares.
// What stands in for one that is absent is no function.
#define TORCHGEN_LITE_DECLARED(headers, ...)                             \
  static_assert(                                                         \
      std::is_function_v<std::remove_pointer_t<decltype(&__VA_ARGS__)>>, \
      "kernel '" #__VA_ARGS__                                            \
      "' is declared in none of `kernel-headers`: " headers);

#define TORCHGEN_LITE_BARE(...) __VA_ARGS__
// Before C++20, `...` takes an argument, which may be empty.
#define TORCHGEN_LITE_HEAD(...) TORCHGEN_LITE_FIRST(__VA_ARGS__, )
#define TORCHGEN_LITE_FIRST(first, ...) first
#define TORCHGEN_LITE_REST(first, ...) __VA_ARGS__
#define TORCHGEN_LITE_TAIL(...) TORCHGEN_LITE_OTHERS(__VA_ARGS__, )
#define TORCHGEN_LITE_OTHERS(first, ...) (__VA_ARGS__)
#define TORCHGEN_LITE_CHECK(must, check, message) \
  static_assert(check, must message);

// A macro does not expand in its own text. So each check leaves the call for the
// next one behind, and EXPAND reads the text again, often enough for 21 checks.
#define TORCHGEN_LITE_EACH(must, messages, check, ...)          \
  TORCHGEN_LITE_CHECK(must, check, TORCHGEN_LITE_HEAD messages) \
  __VA_OPT__(                                                   \
      TORCHGEN_LITE_NEXT TORCHGEN_LITE_NONE(                    \
          must,                                                 \
          TORCHGEN_LITE_TAIL messages,                          \
          __VA_ARGS__))
#define TORCHGEN_LITE_NEXT() TORCHGEN_LITE_EACH
#define TORCHGEN_LITE_NONE ()
#define TORCHGEN_LITE_EXPAND(...)                \
  TORCHGEN_LITE_EXPAND_5(TORCHGEN_LITE_EXPAND_5( \
      TORCHGEN_LITE_EXPAND_5(TORCHGEN_LITE_EXPAND_5(__VA_ARGS__))))
#define TORCHGEN_LITE_EXPAND_5(...) \
  TORCHGEN_LITE_BARE(               \
      TORCHGEN_LITE_BARE(TORCHGEN_LITE_BARE(TORCHGEN_LITE_BARE(__VA_ARGS__))))
