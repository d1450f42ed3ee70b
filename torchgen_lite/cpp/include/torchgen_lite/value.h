// Value: one value of a boxed call (c10::IValue), and Stack, a vector of them.
//
// A value is None, a bool, an int, a float, a string, a list, or an object of
// any other C++ type: a tensor, a generator, a user's type. Arguments
// that a call passes by reference are borrowed, not copied: such a value is
// valid during the call, and owned() makes a copy that may be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <torchgen_lite/errors.h>
#include <torchgen_lite/keyset_of.h>
#include <torchgen_lite/type_id.h>

namespace torchgen_lite {

class Value;
using Stack = std::vector<Value>;

namespace detail {

// What is known about the C++ type of an object.
struct ObjectType {
  TypeId id;
  std::string_view name;
  std::uint64_t (*bits)(const void*);
  // Null for a type that cannot be copied.
  std::shared_ptr<void> (*copy)(const void*);

  template <class T>
  static const ObjectType& of() {
    static const ObjectType type = {
        TypeId::of<T>(),
        typeName<T>(),
        &bitsOfObject<T>,
        copier<T>()};
    return type;
  }

 private:
  template <class T>
  static std::uint64_t bitsOfObject(const void* object) {
    if constexpr (IsTensor<T>::value && !IsBoxedTensor<T>::value) {
      return 0;
    } else {
      return bitsOfArgument(*static_cast<const T*>(object));
    }
  }

  template <class T>
  static constexpr std::shared_ptr<void> (*copier())(const void*) {
    if constexpr (std::is_copy_constructible_v<T>) {
      return [](const void* object) -> std::shared_ptr<void> {
        return std::make_shared<T>(*static_cast<const T*>(object));
      };
    } else {
      return nullptr;
    }
  }
};

struct Object {
  const ObjectType* type;
  void* pointer;
  // Empty for a borrowed object.
  std::shared_ptr<void> owner;
  bool is_const;
};

} // namespace detail

class Value final {
 public:
  Value() = default;
  // Of any arithmetic type, but not of a pointer, which would become a bool.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Value(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      data_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      data_ = static_cast<double>(value);
    } else {
      data_ = static_cast<std::int64_t>(value);
    }
  }
  Value(std::string value) : data_(std::move(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(std::nullptr_t) = delete;
  Value(std::vector<Value> list) : data_(std::move(list)) {}

  // An object that the value owns.
  template <class T>
  static Value object(T object) {
    auto owner = std::make_shared<T>(std::move(object));
    void* pointer = owner.get();
    return Value(
        detail::Object{
            &detail::ObjectType::of<T>(),
            pointer,
            std::move(owner),
            false});
  }

  // An object that lives elsewhere, and may be changed there.
  template <class T>
  static Value borrow(T& object) {
    return Value(
        detail::Object{
            &detail::ObjectType::of<std::remove_const_t<T>>(),
            const_cast<std::remove_const_t<T>*>(std::addressof(object)),
            nullptr,
            std::is_const_v<T>});
  }

  bool isNone() const {
    return std::holds_alternative<std::monostate>(data_);
  }
  bool isBool() const {
    return std::holds_alternative<bool>(data_);
  }
  bool isInt() const {
    return std::holds_alternative<std::int64_t>(data_);
  }
  bool isDouble() const {
    return std::holds_alternative<double>(data_);
  }
  bool isString() const {
    return std::holds_alternative<std::string>(data_);
  }
  bool isList() const {
    return std::holds_alternative<std::vector<Value>>(data_);
  }
  bool isObject() const {
    return std::holds_alternative<detail::Object>(data_);
  }
  // Whether it is an object of this C++ type.
  template <class T>
  bool is() const {
    const detail::Object* object = std::get_if<detail::Object>(&data_);
    return object != nullptr && object->type->id == detail::TypeId::of<T>();
  }
  bool isBorrowed() const {
    const detail::Object* object = std::get_if<detail::Object>(&data_);
    return object != nullptr && object->owner == nullptr;
  }

  // Each throws an Error that names the actual type of the value.
  bool toBool() const {
    return get<bool>("a bool");
  }
  std::int64_t toInt() const {
    return get<std::int64_t>("an int");
  }
  double toDouble() const {
    return get<double>("a float");
  }
  const std::string& toStringRef() const {
    return get<std::string>("a string");
  }
  const std::vector<Value>& toList() const {
    return get<std::vector<Value>>("a list");
  }

  // The object itself. Throws Error for another type, and for an object that
  // was borrowed as const where T is not.
  template <class T>
  T& toObject() const {
    using Bare = std::remove_const_t<T>;
    if (!is<Bare>()) {
      fail(detail::typeName<Bare>());
    }
    const detail::Object& object = std::get<detail::Object>(data_);
    if (object.is_const && !std::is_const_v<T>) {
      throw Error(
          "a " + std::string(detail::typeName<Bare>()) +
          " that was passed as const cannot be changed");
    }
    return *static_cast<T*>(object.pointer);
  }

  // The keys that the value contributes to a boxed call.
  DispatchKeySet keyset() const {
    return DispatchKeySet::from_raw_repr(bits());
  }

  // This value with its borrowed objects copied. Throws Error for one that
  // cannot be.
  Value owned() const {
    if (isList()) {
      std::vector<Value> list;
      for (const Value& element : toList()) {
        list.push_back(element.owned());
      }
      return list;
    }
    if (!isBorrowed()) {
      return *this;
    }
    detail::Object object = std::get<detail::Object>(data_);
    if (object.type->copy == nullptr) {
      throw Error("a " + std::string(object.type->name) + " cannot be copied");
    }
    object.owner = object.type->copy(object.pointer);
    object.pointer = object.owner.get();
    object.is_const = false;
    return Value(std::move(object));
  }

  // "None", "int", "list", or the C++ type of an object.
  std::string_view typeName() const {
    static constexpr std::string_view names[] =
        {"None", "bool", "int", "float", "string", "list"};
    return isObject() ? std::get<detail::Object>(data_).type->name
                      : names[data_.index()];
  }

  // Where an object is, and whether only this value keeps it alive.
  const void* address() const {
    const detail::Object* object = std::get_if<detail::Object>(&data_);
    return object == nullptr ? nullptr : object->pointer;
  }
  bool isUnique() const {
    const detail::Object* object = std::get_if<detail::Object>(&data_);
    return object != nullptr && object->owner.use_count() == 1;
  }

 private:
  explicit Value(detail::Object object) : data_(std::move(object)) {}

  std::uint64_t bits() const {
    if (const detail::Object* object = std::get_if<detail::Object>(&data_)) {
      return object->type->bits(object->pointer);
    }
    std::uint64_t bits = 0;
    if (isList()) {
      for (const Value& element : toList()) {
        bits |= element.bits();
      }
    }
    return bits;
  }

  template <class T>
  const T& get(std::string_view expected) const {
    const T* found = std::get_if<T>(&data_);
    if (found == nullptr) {
      fail(expected);
    }
    return *found;
  }

  [[noreturn]] TORCHGEN_LITE_COLD void fail(std::string_view expected) const {
    throw Error(
        "expected " + std::string(expected) + ", not " +
        std::string(typeName()));
  }

  std::variant<
      std::monostate,
      bool,
      std::int64_t,
      double,
      std::string,
      std::vector<Value>,
      detail::Object>
      data_;
};

} // namespace torchgen_lite
