#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::detail {

template <class Operator, class Schema>
struct Calls;

// The typed calls of an operator. Only those that are used get compiled.
template <class Operator, class Result, class... Arguments>
struct Calls<Operator, Result(Arguments...)> {
  using schema = Result(Arguments...);
  using ptr_schema = schema*;

  static Result call(Arguments... arguments) {
    static const auto op = find();
    return op.call(std::forward<Arguments>(arguments)...);
  }

  static Result redispatch(
      c10::DispatchKeySet dispatchKeySet,
      Arguments... arguments) {
    static const auto op = find();
    return op.redispatch(dispatchKeySet, std::forward<Arguments>(arguments)...);
  }

 private:
  // Each call keeps the operator in its own static variable, as calling a
  // function to get a shared one would cost time.
  static c10::TypedOperatorHandle<schema> find() {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(Operator::name, Operator::overload_name)
        .template typed<schema>();
  }
};

} // namespace TORCHGEN_LITE_NAMESPACE::detail

#undef TORCHGEN_LITE_NAMESPACE
