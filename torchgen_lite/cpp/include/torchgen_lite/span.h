// Span<T>: a view of elements, for list arguments, like std::span<const T> in
// C++20.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace torchgen_lite {

template <class T>
class Span final {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr Span() = default;
  constexpr Span(const T* data, std::size_t size) : data_(data), size_(size) {}
  // The list is valid for the full expression that contains it, like any
  // temporary argument.
  constexpr Span(const std::initializer_list<T>& list)
      : Span(list.begin(), list.size()) {}
  // Anything with data() and size(): std::vector, std::array, std::span.
  template <
      class Container,
      class = std::enable_if_t<std::is_convertible_v<
          decltype(std::declval<const Container&>().data()),
          const T*>>>
  constexpr Span(const Container& container)
      : data_(container.data()), size_(container.size()) {}
  template <std::size_t N>
  constexpr Span(const T (&array)[N]) : data_(array), size_(N) {}

  constexpr const T* data() const {
    return data_;
  }
  constexpr std::size_t size() const {
    return size_;
  }
  constexpr bool empty() const {
    return size_ == 0;
  }
  constexpr const T* begin() const {
    return data_;
  }
  constexpr const T* end() const {
    return data_ + size_;
  }
  constexpr const T& operator[](std::size_t index) const {
    return data_[index];
  }
  constexpr const T& front() const {
    return data_[0];
  }
  constexpr const T& back() const {
    return data_[size_ - 1];
  }
  // Throws std::out_of_range.
  constexpr const T& at(std::size_t index) const {
    if (index >= size_) {
      throw std::out_of_range("Span::at");
    }
    return data_[index];
  }
  std::vector<T> vec() const {
    return std::vector<T>(begin(), end());
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace torchgen_lite
