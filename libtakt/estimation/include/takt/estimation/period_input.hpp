#pragma once

#include <cstdint>

#include "takt/estimation/handoff.hpp"

namespace takt::estimation {

/// The input of a period, of which any number may come. The guard must see the worst one: one
/// outside the physical limits, or else one outside the decision bound. Later periods in which none
/// comes go on with the last one. Nothing is allocated after construction.
class PeriodInput {
 public:
  /// Before the first input, that of the operating point holds.
  explicit PeriodInput(const Handoff& handoff)
      : decision_(handoff.decision),
        physical_(handoff.physical),
        last_(handoff.linear.input),
        worst_(handoff.linear.input) {}

  /// An input has come, which has the size of the plant's.
  void take(const AnyVector& input) {
    const Kind kind = kind_of(input);
    if (has_come_) ++replaced_;
    if (!has_come_ || kind >= worst_kind_) {
      worst_ = input;
      worst_kind_ = kind;
    }
    last_ = input;
    has_come_ = true;
  }

  /// The period ends. Returns its input: the last one of the worst kind that came, or the last one
  /// of earlier periods if none came.
  [[nodiscard]] const AnyVector& end_period() {
    if (!has_come_) worst_ = last_;
    has_come_ = false;
    return worst_;
  }

  [[nodiscard]] Eigen::Index size() const { return last_.size(); }

  /// How many inputs came beside another one of their period, of which only one is used.
  [[nodiscard]] std::uint64_t replaced() const { return replaced_; }

 private:
  /// In rising order of what the guard has to do.
  enum class Kind : std::uint8_t { inside, outside, unphysical };

  [[nodiscard]] Kind kind_of(const AnyVector& input) const {
    if (!physical_.contains(input)) return Kind::unphysical;
    return decision_.contains(input) ? Kind::inside : Kind::outside;
  }

  InputBox decision_;
  InputBox physical_;
  AnyVector last_;
  AnyVector worst_;
  Kind worst_kind_ = Kind::inside;
  bool has_come_ = false;
  std::uint64_t replaced_ = 0;
};

}  // namespace takt::estimation
