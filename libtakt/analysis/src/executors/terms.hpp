#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "busy_window/busy_window.hpp"
#include "system/system.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The terms of one bound, taken from the equation that gave it.
class Terms {
 public:
  using Kind = Explanation::Kind;

  struct Term {
    Kind kind = Kind::execution;
    std::optional<CallbackIndex> callback;
    std::int64_t instances = 0;
    Duration time{};
  };

  explicit Terms(const System& system) : system_(system) {}

  /// Adds a term. Leaves it out if its time is 0, and merges terms of the same kind and callback.
  void add(Kind kind, Duration time, std::optional<CallbackIndex> callback = std::nullopt,
           std::int64_t instances = 0);

  /// Adds instances `first` + 1 to `last` of a callback. `cost` may contain overheads and releases:
  /// these become terms of their own.
  void add_cost(Kind kind, CallbackIndex callback, const Cost& cost, std::int64_t first,
                std::int64_t last);

  /// Adds `instances` instances, each with the longest cost of one.
  void add_longest(Kind kind, CallbackIndex callback, const Cost& cost, std::int64_t instances);

  /// Adds as many of the first `most` instances of a callback as fit into `time`, the last one in
  /// part. Returns the time that is left. O(log most).
  Duration add_within(Duration time, Kind kind, CallbackIndex callback, const Cost& cost,
                      std::int64_t most);

  void append(const Terms& others);

  [[nodiscard]] const std::vector<Term>& list() const { return terms_; }
  [[nodiscard]] Duration total() const;

 private:
  const System& system_;
  std::vector<Term> terms_;
};

}  // namespace takt::analysis
