#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::memory {

template <class Value, class = void>
struct is_iterable : std::false_type {};

template <class Value>
struct is_iterable<
    Value,
    std::void_t<decltype(std::begin(std::declval<const Value&>()))>>
    : std::true_type {};

template <class Value>
struct is_optional : std::false_type {};

template <class Value>
struct is_optional<std::optional<Value>> : std::true_type {};

template <class Value>
struct is_list : std::false_type {};

template <class Value>
struct is_list<c10::List<Value>> : std::true_type {};

template <class Value>
struct is_dict : std::false_type {};

template <class Key, class Value>
struct is_dict<c10::Dict<Key, Value>> : std::true_type {};

template <class Value>
struct is_tuple : std::false_type {};

template <class... Values>
struct is_tuple<std::tuple<Values...>> : std::true_type {};

// Calls a function with each tensor that is in a boxed value.
template <class Visit>
void each_boxed(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      visit(value.toTensor());
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      each_boxed(element, visit);
    }
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      each_boxed(element, visit);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      each_boxed(entry.value(), visit);
    }
  }
}

// Calls a function with each tensor that is in a value: in lists, options and
// tuples of any depth. Other values have none.
template <class Value, class Visit>
void each_tensor(const Value& value, const Visit& visit) {
  if constexpr (std::is_same_v<Value, at::Tensor>) {
    if (value.defined()) {
      visit(value);
    }
  } else if constexpr (std::is_same_v<Value, c10::IValue>) {
    each_boxed(value, visit);
  } else if constexpr (is_optional<Value>::value) {
    if (value.has_value()) {
      each_tensor(*value, visit);
    }
  } else if constexpr (is_tuple<Value>::value) {
    const auto all = [&](const auto&... values) {
      (each_tensor(values, visit), ...);
    };
    std::apply(all, value);
  } else if constexpr (is_list<Value>::value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      each_tensor(value.get(i), visit);
    }
  } else if constexpr (is_dict<Value>::value) {
    for (const auto& entry : value) {
      each_tensor(entry.value(), visit);
    }
  } else if constexpr (
      is_iterable<Value>::value &&
      !std::is_convertible_v<const Value&, std::string_view>) {
    for (const auto& element : value) {
      each_tensor(element, visit);
    }
  }
}

// Whether a call has to be recorded for any of the tensors in these values.
template <class... Values>
bool any_requires_grad(const Values&... values) {
  bool is_required = false;
  if (at::GradMode::is_enabled()) {
    const auto visit = [&](const at::Tensor& tensor) {
      is_required |= tensor.requires_grad();
    };
    (each_tensor(values, visit), ...);
  }
  return is_required;
}

// Whether any of the tensors in these values has a tangent.
template <class... Values>
bool any_has_tangent(const Values&... values) {
  bool is_dual = false;
  [[maybe_unused]] const auto visit = [&](const at::Tensor& tensor) {
    is_dual |= torch::autograd::isFwGradDefined(tensor);
  };
  (each_tensor(values, visit), ...);
  return is_dual;
}

// At ADInplaceOrView, before a call: leaves that require gradients are refused, as
// PyTorch does.
template <class... Values>
void begin_writing(const Values&... written) {
  const auto refuse = [](const at::Tensor& tensor) {
    torch::autograd::check_inplace(tensor, tensor.requires_grad());
  };
  (each_tensor(written, refuse), ...);
}

// After a call: what is written gets a new version, whatever writes to it. By that,
// autograd finds saved tensors that have changed, and a selective checkpoint those
// that it has kept while the kernel ran.
template <class... Values>
void end_writing(const Values&... written) {
  const auto raise = [](const at::Tensor& tensor) {
    torch::autograd::increment_version(tensor);
  };
  (each_tensor(written, raise), ...);
}

// A tensor of a call, by the position of the argument or of the result that it
// is in. It lives as long as the call.
struct Place {
  std::size_t position;
  const c10::TensorImpl* tensor;
  const c10::StorageImpl* storage;
};

using Places = c10::SmallVector<Place, 8>;

// Adds the tensors in a value. Subclasses, and what transforms wrap, have no
// memory of their own to compare.
template <class Value>
void add_places(Places& places, std::size_t position, const Value& value) {
  each_tensor(value, [&](const at::Tensor& tensor) {
    const bool is_plain =
        tensor.has_storage() && !tensor.key_set().has(c10::DispatchKey::Python);
    if (is_plain) {
      places.push_back(
          {position,
           tensor.unsafeGetTensorImpl(),
           tensor.storage().unsafeGetStorageImpl()});
    }
  });
}

template <class... Values>
Places places_of(const Values&... values) {
  Places places;
  std::size_t position = 0;
  (add_places(places, position++, values), ...);
  return places;
}

// Whether results are compared with what the schema says of them:
// TORCHGEN_LITE_CHECK=0 in the environment says no.
inline bool are_results_checked() {
  static const bool is_asked = [] {
    const char* said = std::getenv("TORCHGEN_LITE_CHECK");
    return said == nullptr || std::string_view(said) != "0";
  }();
  return is_asked;
}

// What the schema of an operator says of the memory of its results.
//
// Note [Results are new, or what is written]
// A result without an alias annotation has memory of its own, and one with the
// annotation of a written argument is that argument. Autograd, functionalization
// and compilers rely on it; a kernel that returns something else gives results
// that change with an argument, and other ones once it is compiled.
class Results {
 public:
  explicit Results(const c10::FunctionSchema& schema) : schema_(schema) {
    for (const auto& result : schema_.returns()) {
      const auto* alias = result.alias_info();
      sources_.push_back(alias == nullptr ? kNew : source_of(*alias));
    }
  }

  std::size_t size() const {
    return sources_.size();
  }

  // Raises an error if any of the results is not what the schema says.
  void check(const Places& given, const Places& results) const {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& result = results[i];
      const auto source = sources_[result.position];
      if (source >= 0) {
        check_same(given, result, static_cast<std::size_t>(source));
      } else if (source == kNew) {
        check_new(given, result);
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
          const auto other = results[earlier].position;
          if (results[earlier].storage == result.storage) {
            if (other == result.position) {
              refuse(other, " has items that share memory", "");
            }
            refuse(
                result.position,
                " shares memory with result ",
                std::to_string(other));
          }
        }
      }
    }
  }

 private:
  // In place of the position of the argument that a result is.
  static constexpr int64_t kNew = -1;
  static constexpr int64_t kOther = -2;

  // The only written argument with this annotation; of views nothing is known.
  int64_t source_of(const c10::AliasInfo& alias) const {
    int64_t source = kOther;
    int64_t count = 0;
    for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
      const auto* given = schema_.arguments()[i].alias_info();
      if (alias.isWrite() && given != nullptr && *given == alias) {
        source = static_cast<int64_t>(i);
        ++count;
      }
    }
    return count == 1 ? source : kOther;
  }

  void check_same(const Places& given, const Place& result, std::size_t source)
      const {
    bool is_given = false;
    for (const auto& place : given) {
      if (place.position == source) {
        if (place.tensor == result.tensor) {
          return;
        }
        is_given = true;
      }
    }
    if (is_given) {
      refuse(result.position, " is not the argument ", name_of(source));
    }
  }

  void check_new(const Places& given, const Place& result) const {
    for (const auto& place : given) {
      if (place.tensor == result.tensor) {
        refuse(result.position, " is the argument ", name_of(place.position));
      }
      if (place.storage == result.storage) {
        refuse(
            result.position,
            " shares memory with the argument ",
            name_of(place.position));
      }
    }
  }

  std::string name_of(std::size_t argument) const {
    return "`" + schema_.arguments()[argument].name() + "`";
  }

  [[noreturn]] void refuse(
      std::size_t result,
      const char* is_what,
      const std::string& other) const {
    TORCH_CHECK(
        false,
        c10::toString(schema_.operator_name()),
        " returns what its schema does not say: result ",
        result,
        is_what,
        other,
        ". Return a new tensor, such as a clone, or the tensor that is written; ",
        "or say in the schema what is returned. The schema is ",
        schema_);
  }

  c10::FunctionSchema schema_;
  std::vector<int64_t> sources_;
};

// The same for an operator with a typed call.
template <class Operator>
const Results& results_of() {
  static const Results results(
      c10::Dispatcher::singleton()
          .findSchemaOrThrow(Operator::name, Operator::overload_name)
          .schema());
  return results;
}

// Compares the result of a typed call with what the schema says. Several results
// are a tuple, and so may be a single one.
template <class Result, class... Arguments>
void compare(
    const Results& results,
    const Result& result,
    const Arguments&... arguments) {
  auto places = places_of(result);
  if constexpr (is_tuple<Result>::value) {
    if (results.size() > 1) {
      const auto each = [](const auto&... values) {
        return places_of(values...);
      };
      places = std::apply(each, result);
    }
  }
  results.check(places_of(arguments...), places);
}

template <class Operator, class Result, class... Arguments>
void check_results(const Result& result, const Arguments&... arguments) {
  if (are_results_checked()) {
    compare(results_of<Operator>(), result, arguments...);
  }
}

// The result of a kernel that is composed of other operators, compared. `named` is
// a function of its own for each operator.
//
//   const auto named = [] { return c10::OperatorName("mylib::f", ""); };
//   return memory::checked(named, f_kernel(x), x);
template <class Named, class Result, class... Arguments>
Result checked(
    const Named& named,
    Result&& result,
    const Arguments&... arguments) {
  if (are_results_checked()) {
    static const Results results(
        c10::Dispatcher::singleton().findSchema(named())->schema());
    compare(results, std::as_const(result), arguments...);
  }
  return std::forward<Result>(result);
}

} // namespace TORCHGEN_LITE_NAMESPACE::memory

#undef TORCHGEN_LITE_NAMESPACE
