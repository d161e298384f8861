#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace takt {

/// A double-ended queue that reuses its elements' memory: a new element is swapped with the old one
/// in its place. It grows when it is full.
template <typename T>
class Ring {
 public:
  /// Allocates memory for at least `capacity` elements.
  explicit Ring(std::size_t capacity) : elements_(std::bit_ceil(capacity)) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The oldest element. The ring must not be empty.
  [[nodiscard]] const T& front() const { return elements_[first_]; }

  /// The element behind which there are so many newer ones.
  [[nodiscard]] const T& back(std::size_t newer) const {
    return elements_[index(size_ - 1 - newer)];
  }

  /// Swaps `element` with an older one, so that the caller can reuse the older one's memory.
  void push_back(T& element) requires(!std::is_trivially_copyable_v<T>) {
    if (size_ == elements_.size()) grow();
    exchange(element, elements_[index(size_++)]);
  }

  void push_back(const T& element) requires(std::is_trivially_copyable_v<T>) {
    if (size_ == elements_.size()) grow();
    elements_[index(size_++)] = element;
  }

  /// Adds the element as the oldest.
  void push_front(const T& element) requires(std::is_trivially_copyable_v<T>) {
    if (size_ == elements_.size()) grow();
    first_ = index(elements_.size() - 1);
    ++size_;
    elements_[first_] = element;
  }

  /// Swaps the oldest or the newest element with `element`. The ring must not be empty.
  void pop_front(T& element) {
    exchange(elements_[first_], element);
    first_ = index(1);
    --size_;
  }
  void pop_back(T& element) { exchange(elements_[index(--size_)], element); }

  /// The same with the element behind which there are so many newer ones, which stay.
  void take(std::size_t newer, T& element) {
    for (std::size_t n = size_ - newer; n < size_; ++n) {
      std::swap(elements_[index(n - 1)], elements_[index(n)]);
    }
    pop_back(element);
  }

 private:
  /// Elements that own no memory are copied instead of swapped.
  static void exchange(T& from, T& to) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      to = from;
    } else {
      std::swap(from, to);
    }
  }

  /// The number of elements in memory is a power of two.
  [[nodiscard]] std::size_t index(std::size_t n) const {
    return (first_ + n) & (elements_.size() - 1);
  }

  /// Out of the way of those that push into memory that is there.
  [[gnu::noinline]] void grow() {
    std::vector<T> larger(2 * elements_.size());
    for (std::size_t n = 0; n < size_; ++n) std::swap(larger[n], elements_[index(n)]);
    elements_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> elements_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace takt
