#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace takt::analysis {

/// Nanoseconds, as zones count them.
using Time = std::int64_t;

/// The bound of a difference that has no bound. Sums of a few of these do not wrap.
inline constexpr Time no_limit = std::numeric_limits<Time>::max() / 8;

/// A set of values of some integer variables that is given by bounds on their differences (a
/// difference-bound matrix, Dill 1989). The bounds are always the tightest ones: the bounds among
/// some of the variables are all that is known of these.
class Zone {
 public:
  using Column = std::uint32_t;

  /// `size` variables of which nothing is known.
  explicit Zone(std::size_t size = 0) { resize(size); }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The largest value of x_a - x_b; no_limit if there is none.
  [[nodiscard]] Time most(Column a, Column b) const { return bounds_[a * stride_ + b]; }

  /// Adds a variable of which nothing is known.
  Column add() {
    resize(size_ + 1);
    return static_cast<Column>(size_ - 1);
  }

  /// Keeps the values with x_a - x_b <= bound. Returns false if there are none. O(size²).
  [[nodiscard]] bool limit(Column a, Column b, Time bound);

  /// Lets x_a - x_b be as large as that, for a variable of which only some bounds matter. The
  /// others must stay as tight as they are.
  void set(Column a, Column b, Time bound) { bounds_[a * stride_ + b] = bound; }

  /// Replaces x_a, of which no lower bounds are known, by the lesser of x_a and x_b.
  void lower(Column a, Column b) {
    for (Column c = 0; c < size_; ++c) {
      if (c != a) set(a, c, std::min(most(a, c), most(b, c)));
    }
  }
  /// Forgets all upper bounds, or all lower bounds, of x_a.
  void forget_upper(Column a) {
    for (Column c = 0; c < size_; ++c) {
      if (c != a) set(a, c, no_limit);
    }
  }
  void forget_lower(Column a) {
    for (Column c = 0; c < size_; ++c) {
      if (c != a) set(c, a, no_limit);
    }
  }

  /// Swaps two variables.
  void swap(Column a, Column b);

  /// The same variables counted from another origin: x_a grows by `shift`.
  void shift(Column a, Time shift);

  /// The zone of these variables alone, in this order.
  [[nodiscard]] Zone of(std::span<const Column> columns) const;

  [[nodiscard]] bool includes(const Zone& other) const {
    return std::ranges::equal(bounds_, other.bounds_, std::greater_equal{});
  }
  /// Adds the other's values, and as many more as it takes to be a zone. Both must have the same
  /// size and be results of of().
  void merge(const Zone& other) {
    std::ranges::transform(bounds_, other.bounds_, bounds_.begin(),
                           [](Time a, Time b) { return std::max(a, b); });
  }

 private:
  void resize(std::size_t size);

  std::size_t size_ = 0;
  std::size_t stride_ = 0;
  std::vector<Time> bounds_;
};

}  // namespace takt::analysis
