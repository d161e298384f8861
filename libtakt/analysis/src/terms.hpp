#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "busy_window.hpp"
#include "system.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The terms of one bound, as they are taken from the equation that gave it.
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

  /// Terms of no time are left out; those of the same kind and callback become one.
  void add(Kind kind, Duration time, std::optional<CallbackIndex> callback = std::nullopt,
           std::int64_t instances = 0);

  /// Instances `first` + 1 to `last` of a callback, by a cost of it that may contain overheads and
  /// releases: these become terms of their own.
  void add_cost(Kind kind, CallbackIndex callback, const Cost& cost, std::int64_t first,
                std::int64_t last);

  /// So many instances of which each counts with the longest cost.
  void add_longest(Kind kind, CallbackIndex callback, const Cost& cost, std::int64_t instances);

  void append(const Terms& others);

  [[nodiscard]] const std::vector<Term>& list() const { return terms_; }
  [[nodiscard]] Duration total() const;

 private:
  const System& system_;
  std::vector<Term> terms_;
};

}  // namespace takt::analysis
