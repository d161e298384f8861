#pragma once

#include <vector>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// The times that releases take from an executor of events under the current curves: each timer's
/// expiry and each message costs LocalExecutor::release_overhead, on the same processor and before
/// the executor's thread. unbounded_time above the horizon.
class ReleaseOverhead {
 public:
  ReleaseOverhead(const Round& round, ExecutorIndex index);

  /// The longest time between the executor's decision to run an instance of `callback` and its end
  /// (component-cps Eq. 3.1). Adding it to the cost of every instance accounts for all releases
  /// that delay anything.
  ///
  /// Callbacks of the executor itself send messages without delay only while they run, so meanwhile
  /// only those of this instance come: at most one along each of its edges.
  [[nodiscard]] Duration of_instance(CallbackIndex callback) const;

  /// Adds all that is released for others than the instances of the executor that send it.
  void add_to(curves::DerivedCurve& sum) const;

  /// The longest time for which releases put off a decision of the executor, which then also looks
  /// at what has been activated meanwhile. The cost of the instance that it chooses contains this
  /// time.
  [[nodiscard]] Duration before_decision() const;

 private:
  [[nodiscard]] Duration while_busy(Duration cost, std::int64_t own) const;

  const Round& round_;
  const LocalExecutor& executor_;
  std::vector<const curves::DerivedCurve*> releases_;
};

}  // namespace takt::analysis
