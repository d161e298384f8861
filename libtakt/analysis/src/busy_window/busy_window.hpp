#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "busy_window/blockers.hpp"
#include "busy_window/offset_search.hpp"
#include "effort.hpp"
#include "system/system.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A callback that delays another one within a busy window of their executor.
struct Interferer {
  /// The victim, activated at some offset from the beginning of the window, is delayed by at most
  /// activations(offset + reach) + extra instances.
  struct Limit {
    Duration reach{};
    std::int64_t extra = 0;
  };
  CallbackIndex callback;
  const Cost* cost = nullptr;
  const curves::DerivedCurve* activations = nullptr;
  /// None: every instance that is activated before the victim starts delays it.
  std::optional<Limit> limit{};

  /// The most instances that delay a victim activated at `offset`; unbounded_count without limit.
  [[nodiscard]] std::int64_t most(Duration offset) const;
};

/// The busy windows in which a callback of a non-preemptive, work-conserving executor responds.
///
/// A window begins at an instant before which nothing that counts was waiting, except for one
/// instance that may still have `blocking` to run. The victim, activated at offset t, starts at the
/// latest at the least S > 0 with
///
///   sbf(S) >= ε + blocking(t) + Σ ET_j(min(η_j(S), limit_j(t))) + ET_i(η_i(t + ε) - 1)
///
/// and then completes as Lemma 17 says. Where releases take time of the executor, those that come
/// when it would decide put the decision off, and what is activated meanwhile may still go first: S
/// is then the end of the longest such time. It is part of the victim's cost, which counts the
/// releases from the decision on. The right-hand side must not decrease with t: where a callback no
/// longer blocks, one of its instances counts as an interferer's. Executors differ only in the
/// limits of the others. Theorem 3 of ros-llama and S-3.6 have this form, and so have the classical
/// analyses of non-preemptive scheduling by fixed priority, by deadline and in order of arrival.
class BusyWindow {
 public:
  BusyWindow(const curves::SupplyBound& supply, const Limits& limits, Interferer self,
             std::vector<Interferer> others, Blockers blockers = {},
             Duration before_decision = Duration{0});

  /// The victim's activation needs that `lag` of the window's work has been done. So the victim
  /// counts as activated that much later than its curve admits, and at an offset of at least `lag`
  /// (docs/analysis-theory.md, "What must have run before"). Not for use with longest_response().
  void set_lag(Duration lag) { lag_ = lag; }
  [[nodiscard]] Duration lag() const { return lag_; }

  /// Counts the releases that come within the window with `during`, and `while_last` for those that
  /// come while the victim runs, instead of releases within the costs of instances. The window then
  /// begins when no release is under way either, or counts it as blocking
  /// (docs/analysis-theory.md, "Releases").
  void count_releases(const Interferer& during, Duration while_last) {
    releases_ = during;
    while_last_ = while_last;
  }
  [[nodiscard]] const std::optional<Interferer>& releases() const { return releases_; }
  /// What the victim's own instance takes from its latest start on, if it is the one after
  /// `earlier` others.
  [[nodiscard]] Duration last_cost(std::int64_t earlier) const {
    return self_.cost->marginal(earlier + 1) - before_decision_ + while_last_;
  }

  /// The longest such window (Lemma 21); unbounded_time if it is longer than the horizon.
  [[nodiscard]] Duration length() const;

  /// The latest completion of an instance activated at `offset`. `start` is a lower bound of its
  /// start. The completion does not decrease with the offset.
  [[nodiscard]] Completion complete(Duration offset, Duration start);

  /// The longest time from activation to completion in a window of that length; one of at least
  /// `enough` if there is any.
  [[nodiscard]] LongestResponse longest_response(Duration length,
                                                 Duration enough = curves::unbounded_time);
  /// Finds the same without visiting all offsets: for windows with too many of them, and for those
  /// in which a start lies beyond the given length.
  [[nodiscard]] LongestResponse search_longest_response(Duration length);

  /// The longest response if, in addition to the window, `from_activation(offset)` bounds the start
  /// and the completion of an instance activated there. These count from its activation and must
  /// not decrease with the offset. No bound if there are too many offsets.
  struct Narrowed {
    LongestResponse longest;
    /// Whether from_activation() gives it.
    bool from_activation = false;
  };
  template <typename FromActivation>
  [[nodiscard]] Narrowed narrowed_response(Duration length, FromActivation from_activation) {
    constexpr int most_offsets = 1 << 12;
    Narrowed result{.longest = {.response = epsilon, .offset = lag_, .start = epsilon}};
    LongestResponse& longest = result.longest;
    Duration start = epsilon;
    int offsets = 0;
    Duration next{};
    for (Duration offset = lag_; offset < length - longest.response; offset = next) {
      const Completion in_window = complete(offset, start);
      if (in_window.finish == curves::unbounded_time || ++offsets > most_offsets) return {};
      start = in_window.start;
      next = next_offset(offset + epsilon);
      // Up to the next offset the completion in the window stays where it is, so the response by
      // the window falls. The longest response is where it meets the one by from_activation(), if
      // it is longer than those before.
      Duration last = std::min({next, length, in_window.finish - longest.response}) - epsilon;
      if (last < offset) continue;
      Completion direct = from_activation(last);
      if (direct.finish <= longest.response) continue;
      if (direct.finish <= in_window.finish - last) {
        longest = {direct.finish, last, direct.start};
        result.from_activation = true;
        continue;
      }
      Duration first = offset;
      while (first < last) {
        const Duration middle = first + (last - first) / 2;
        const Completion there = from_activation(middle);
        if (there.finish <= in_window.finish - middle) {
          if (there.finish > longest.response) {
            longest = {there.finish, middle, there.start};
            result.from_activation = true;
          }
          first = middle + epsilon;
        } else {
          last = middle;
        }
      }
      if (in_window.finish - first <= longest.response) continue;
      longest = {in_window.finish - first, first, in_window.start};
      result.from_activation = false;
    }
    return result;
  }

  /// The first offset from `offset` on at which the completion may differ from the one before.
  [[nodiscard]] Duration next_offset(Duration offset) const;
  /// The time at which all that is activated in the longest such window is complete, if activations
  /// count from the activation of their origin; unbounded_time if it is beyond the horizon.
  [[nodiscard]] Duration completion_of_all() const;

  /// How many instances of its own callback run before one activated at `offset`.
  [[nodiscard]] std::int64_t earlier(Duration offset) const;

  [[nodiscard]] const Interferer& self() const { return self_; }
  [[nodiscard]] const std::vector<Interferer>& others() const { return others_; }
  [[nodiscard]] const Blockers& blockers() const { return blockers_; }

 private:
  [[nodiscard]] Duration least_length(Duration rounding) const;

  const curves::SupplyBound& supply_;
  Limits limits_;
  Interferer self_;
  std::vector<Interferer> others_;
  Blockers blockers_;
  Duration before_decision_;
  std::optional<Interferer> releases_;
  Duration while_last_{};
  Duration lag_{};
  std::vector<std::int64_t> most_;  // of each of the others, at the latest offset
};

}  // namespace takt::analysis
