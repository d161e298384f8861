#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "derived_curve.hpp"
#include "offset_search.hpp"
#include "system.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A callback that delays another one within a busy window of their executor.
struct Interferer {
  /// The victim, activated at some offset from the start of the window, is delayed by at most
  /// activations(offset + reach) + extra instances.
  struct Limit {
    Duration reach{};
    std::int64_t extra = 0;
  };
  const Cost* cost = nullptr;
  const DerivedCurve* activations = nullptr;
  /// None: by all that are activated before it starts.
  std::optional<Limit> limit;
};

/// The busy windows in which a callback of a non-preemptive, work-conserving executor responds.
///
/// They begin at an instant before which nothing that counts was waiting, but for one instance that
/// may still have `blocking` to run. The victim, activated at offset t, starts at the latest at the
/// least S > 0 with
///
///   sbf(S) >= ε + blocking + Σ ET_j(min(η_j(S), limit_j(t))) + ET_i(η_i(t + ε) - 1)
///
/// and then completes as Lemma 17 says. Executors differ only in what limits the others. Theorem 3
/// of ros-llama and S-3.6 are of this form, and so are the classical analyses of non-preemptive
/// scheduling by fixed priority, by deadline and in order of arrival.
class BusyWindow {
 public:
  BusyWindow(const curves::SupplyBound& supply, Duration horizon, Duration blocking,
             Interferer self, std::vector<Interferer> others);

  /// No busy window is longer (Lemma 21); unbounded_time if none below the horizon ends for sure.
  [[nodiscard]] Duration length() const;

  /// The latest completion of an instance activated at `offset`, where `start` is a lower bound of
  /// its start. Does not decrease with the offset.
  [[nodiscard]] Completion complete(Duration offset, Duration start);

  /// What the completion of an instance activated at `offset` is made of: how many instances of its
  /// own callback go before it, and how many of each of the others.
  struct Counts {
    Completion completion;
    std::int64_t earlier = 0;
    std::vector<std::int64_t> others;
  };
  [[nodiscard]] Counts count(Duration offset);

  [[nodiscard]] Duration blocking() const { return blocking_; }
  [[nodiscard]] const Interferer& self() const { return self_; }
  [[nodiscard]] const std::vector<Interferer>& others() const { return others_; }

  /// The longest time from activation to completion in a window of that length.
  [[nodiscard]] Duration longest_response(Duration length);
  /// The same without visiting all offsets: for windows with too many of them, or that outlast
  /// their length.
  [[nodiscard]] Duration search_longest_response(Duration length);

 private:
  [[nodiscard]] Duration next_offset(Duration offset) const;
  /// How many instances of its own callback go before one activated at `offset`.
  [[nodiscard]] std::int64_t earlier(Duration offset) const;

  const curves::SupplyBound& supply_;
  Duration horizon_;
  Duration blocking_;
  Interferer self_;
  std::vector<Interferer> others_;
  std::vector<std::int64_t> most_;  // of each of the others, at the latest offset
};

}  // namespace takt::analysis
