#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The cost of n consecutive instances of a callback with the overhead of its executor
/// (ros-llama Lemma 1): ET(n) + OT(n). Where instances suspend themselves, ET includes the supply
/// that their thread forgoes.
class Cost {
 public:
  Cost(const std::vector<Duration>& execution_time, const std::vector<Duration>& overhead)
      : execution_(execution_time) {
    if (!overhead.empty()) overhead_.emplace(overhead);
  }

  [[nodiscard]] Duration operator()(std::int64_t n) const {
    const Duration cost = execution_(n);
    return overhead_ ? curves::saturating_add(cost, (*overhead_)(n)) : cost;
  }
  /// The cost that instance n adds to that of the n - 1 before it (ros-llama Lemma 17).
  [[nodiscard]] Duration marginal(std::int64_t n) const { return (*this)(n) - (*this)(n - 1); }

  /// The cost that each instance adds at least to that of any others.
  [[nodiscard]] Duration least_marginal() const {
    const bool constant = execution_.given() == 1 && (!overhead_ || overhead_->given() == 1);
    return constant ? (*this)(1) : Duration{0};
  }

  /// The time that instances of the executor spare if they run one right after the other: n of them
  /// cost at least n - 1 times this less than the sum of n single ones. O(given overheads).
  ///
  /// With s the largest of (OT(n) - OT(1)) / (n - 1), 2 <= n <= m, and OT(m) / m, OT(n) is at most
  /// OT(1) + s·(n - 1) for every n: OT(q·m + r) <= q·OT(m) + OT(r), and the slope of a sum lies
  /// between those of its parts. It is OT(1) - s, for the cheapest m.
  [[nodiscard]] Duration spared() const {
    if (!overhead_) return Duration{0};
    const curves::ExecutionTimeCurve& overhead = *overhead_;
    const auto [cost, instances] = overhead.long_run();
    const auto share = [](Duration total, std::int64_t parts) {
      return Duration{(total.count() + parts - 1) / parts};
    };
    Duration each = share(cost, instances);
    for (std::int64_t n = 2; n <= instances; ++n) {
      each = std::max(each, share(overhead(n) - overhead(1), n - 1));
    }
    return std::max(Duration{0}, overhead(1) - each);
  }

  /// The cost if every instance takes `each` longer; none if an instance may then take more than
  /// longest_time. Values beyond that are left out: the curve goes on above them.
  [[nodiscard]] std::optional<Cost> plus(Duration each) const {
    std::vector<Duration> values;
    for (std::int64_t n = 1; std::cmp_less_equal(n, execution_.given()); ++n) {
      const Duration longer =
          curves::saturating_add(execution_(n), curves::saturating_multiply(each, n));
      if (longer > curves::longest_time) break;
      values.push_back(longer);
    }
    if (values.empty()) return std::nullopt;
    Cost cost = *this;
    cost.execution_ = curves::ExecutionTimeCurve(values);
    return cost;
  }

  [[nodiscard]] const curves::ExecutionTimeCurve& execution_time() const { return execution_; }
  [[nodiscard]] const std::optional<curves::ExecutionTimeCurve>& overhead() const {
    return overhead_;
  }

 private:
  curves::ExecutionTimeCurve execution_;
  std::optional<curves::ExecutionTimeCurve> overhead_;
};

}  // namespace takt::analysis
