#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "takt/viewer/storage.hpp"

namespace takt::viewer {

/// Values one after the other, in memory or on disk as the storage says: like std::vector, for as
/// many as fit on a disk. Functions that add values throw StorageError if the disk is full.
template <typename T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  explicit Array(const Storage& storage) : room_(storage) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t position) { return data()[position]; }
  [[nodiscard]] const T& operator[](std::size_t position) const { return data()[position]; }
  [[nodiscard]] std::span<const T> part(std::size_t first, std::size_t length) const {
    assert(first + length <= size_);
    return {data() + first, length};
  }

  void push_back(T value) {
    room_.grow((size_ + 1) * sizeof(T));
    data()[size_++] = value;
  }
  /// New ones are `value`.
  void resize(std::size_t size, T value = {}) {
    room_.grow(size * sizeof(T));
    for (; size_ < size; ++size_) {
      data()[size_] = value;
    }
    size_ = size;
  }
  void clear() { size_ = 0; }

 private:
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(room_.data()); }

  Room room_;
  std::size_t size_ = 0;
};

/// The numbers of things by the group to which each belongs, ascending within a group.
class Groups {
 public:
  explicit Groups(const Storage& storage) : ends_(storage), things_(storage) {}
  /// `group_of(thing)` is below `groups`, or `none` for a thing without a group. O(things +
  /// groups).
  template <typename GroupOf>
  Groups(const Storage& storage, std::size_t groups, std::size_t things, GroupOf group_of)
      : Groups(storage) {
    // First counts, then where each group begins; filling a group moves its begin to its end.
    ends_.resize(groups + 1);
    for (std::size_t thing = 0; thing < things; ++thing) {
      if (const std::size_t group = group_of(thing); group != none) {
        ++ends_[group + 1];
      }
    }
    for (std::size_t group = 0; group < groups; ++group) {
      ends_[group + 1] += ends_[group];
    }
    things_.resize(ends_[groups]);
    for (std::size_t thing = 0; thing < things; ++thing) {
      if (const std::size_t group = group_of(thing); group != none) {
        things_[ends_[group]++] = static_cast<std::uint32_t>(thing);
      }
    }
  }

  static constexpr std::size_t none = SIZE_MAX;

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t group) const {
    const std::size_t first = group == 0 ? 0 : ends_[group - 1];
    return things_.part(first, ends_[group] - first);
  }
  /// The things of all groups, by group.
  [[nodiscard]] const Array<std::uint32_t>& all() const { return things_; }

 private:
  Array<std::uint32_t> ends_;
  Array<std::uint32_t> things_;
};

}  // namespace takt::viewer
