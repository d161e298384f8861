#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "takt/estimation/belief.hpp"
#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

/// A filter that accepts measurements late and out of order. It remembers its last steps; a late
/// measurement is put where it belongs and the steps since are made anew, so that the result is as
/// if it had come in time. A late measurement of d steps ago costs d + 1 steps. No allocation after
/// construction.
template <typename Filter, int M, int P>
class Timeline {
 public:
  /// `capacity`: how many steps are remembered, at least 1.
  Timeline(Filter filter, std::size_t capacity, Eigen::Index inputs, Eigen::Index measurements)
      : filter_(std::move(filter)), merged_(measurements) {
    // A random generator in it is set by save(). NOLINTNEXTLINE(bugprone-random-generator-seed)
    Entry entry{.before = {}, .input = Vector<M>(inputs), .measurement = Vector<P>(measurements)};
    filter_.save(entry.before);
    entries_.assign(capacity, entry);
  }

  [[nodiscard]] const auto& belief() const { return filter_.belief(); }
  [[nodiscard]] Filter& filter() { return filter_; }
  /// How many steps have been made; the latest is steps() - 1.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  /// Starts anew from a belief; earlier steps take no measurements any more.
  template <typename Start>
  [[nodiscard]] Refusal restart(const Start& belief) {
    const Refusal refusal = filter_.restart(belief);
    if (refusal == Refusal::none) oldest_ = steps_;
    return refusal;
  }

  /// A step with what is known of its measurement by now; components that are NaN may come later.
  [[nodiscard]] Outcome step(const Vector<M>& input, const Vector<P>& measurement) {
    Entry& entry = at(steps_);
    if (input.size() != entry.input.size() || measurement.size() != entry.measurement.size()) {
      return {.refusal = Refusal::wrong_size};
    }
    filter_.save(entry.before);
    entry.input = input;
    entry.measurement = measurement;
    ++steps_;
    if (steps_ - oldest_ > entries_.size()) oldest_ = steps_ - entries_.size();
    return filter_.step(input, measurement);
  }

  /// A measurement of an earlier step. The outcome is that step's; what the steps after it made of
  /// theirs is not told again.
  [[nodiscard]] Outcome measure(std::uint64_t step, const Vector<P>& measurement) {
    if (step >= steps_) return {.refusal = Refusal::in_the_future};
    if (step < oldest_) return {.refusal = Refusal::too_old};
    Entry& entry = at(step);
    if (measurement.size() != entry.measurement.size()) return {.refusal = Refusal::wrong_size};
    merged_ = entry.measurement;
    for (Eigen::Index i = 0; i < merged_.size(); ++i) {
      if (std::isnan(measurement(i))) continue;
      if (!std::isfinite(measurement(i))) return {.refusal = Refusal::not_finite};
      if (!std::isnan(merged_(i))) return {.refusal = Refusal::already_measured};
      merged_(i) = measurement(i);
    }
    entry.measurement = merged_;
    filter_.restore(entry.before);
    const Outcome outcome = filter_.step(entry.input, entry.measurement);
    for (std::uint64_t next = step + 1; next < steps_; ++next) {
      Entry& later = at(next);
      filter_.save(later.before);
      // The outcome does not matter: refused or not, it is what it would have been in time.
      static_cast<void>(filter_.step(later.input, later.measurement));
    }
    return outcome;
  }

 private:
  struct Entry {
    typename Filter::Snapshot before;
    Vector<M> input;
    Vector<P> measurement;
  };

  Entry& at(std::uint64_t step) { return entries_[step % entries_.size()]; }

  Filter filter_;
  std::vector<Entry> entries_;
  Vector<P> merged_;
  std::uint64_t steps_ = 0;
  std::uint64_t oldest_ = 0;
};

}  // namespace takt::estimation
