#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace takt::brute_force {

/// What a schedule is free in. Each freedom of each object of the model has a sequence of choices
/// of its own, so that changing one choice leaves the others where they are.
enum class Freedom : std::uint8_t {
  release,     ///< of a source: how much later than at the earliest it is activated
  cost,        ///< of a callback: how much cheaper than at most an instance is
  publish,     ///< of an edge: whether and when during an instance the message is sent
  delay,       ///< of an edge: how much faster than at most a message is
  supply,      ///< of an executor: phase of its reservation, position of each budget
  overhead,    ///< of an executor: how much cheaper than at most an overhead is
  selection,   ///< of an executor: whether it selects at the very end of an instance, or when next
               ///< supplied; then what its rule leaves open
  suspension,  ///< of a callback: how much shorter than at most an instance is suspended, and when
};
inline constexpr std::size_t freedoms = 8;

/// All choices of one schedule. The choice 0 is everywhere the one that tends to delay most, and
/// what is not chosen is 0: no choices at all are the synchronous release of everything at once.
class Choices {
 public:
  explicit Choices(std::size_t objects)
      : sequences_(freedoms * objects), made_(sequences_.size()) {}

  /// The next choice of that freedom of that object, 0 to options - 1.
  std::int64_t operator()(Freedom freedom, std::size_t object, std::int64_t options) {
    const std::size_t sequence = object * freedoms + static_cast<std::size_t>(freedom);
    const std::size_t position = made_[sequence]++;
    const auto& values = sequences_[sequence];
    const std::int64_t value = position < values.size() ? values[position] % options : 0;
    if (position < enumerated_) trail_.push_back({sequence, position, options, value});
    return value;
  }

  /// Back to the first choice of every sequence.
  void rewind() {
    made_.assign(made_.size(), 0);
    trail_.clear();
  }

  [[nodiscard]] std::vector<std::vector<std::uint16_t>>& sequences() { return sequences_; }
  [[nodiscard]] const std::vector<std::vector<std::uint16_t>>& sequences() const {
    return sequences_;
  }
  /// How many choices of each sequence have been made since the last rewind().
  [[nodiscard]] const std::vector<std::size_t>& made() const { return made_; }

  /// Enumerates the first `count` choices of every sequence: next() goes from the schedule that has
  /// just been run to the one after it, as an odometer does. False: there is none.
  void enumerate(std::size_t count) { enumerated_ = count; }
  bool next() {
    while (!trail_.empty()) {
      const Choice last = trail_.back();
      trail_.pop_back();
      auto& values = sequences_[last.sequence];
      values.resize(last.position);
      if (last.value + 1 < last.options) {
        values.push_back(static_cast<std::uint16_t>(last.value + 1));
        return true;
      }
    }
    return false;
  }

 private:
  struct Choice {
    std::size_t sequence;
    std::size_t position;
    std::int64_t options;
    std::int64_t value;
  };

  std::vector<std::vector<std::uint16_t>> sequences_;
  std::vector<std::size_t> made_;
  std::size_t enumerated_ = 0;
  std::vector<Choice> trail_;
};

}  // namespace takt::brute_force
