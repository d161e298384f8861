#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "execution_times.hpp"
#include "random.hpp"
#include "takt/model/model.hpp"

namespace takt::simulation {

/// A suspension of an instance: it comes when the instance has run for so long since the one
/// before.
struct Pause {
  Duration after{};
  Duration length{};
};

/// How the consecutive instances of one callback suspend themselves.
class Suspensions {
 public:
  Suspensions(const model::Suspension& suspension, ExecutionModel model, double shortest,
              std::uint64_t seed, std::size_t callback);

  /// Replaces `pauses` by those of the next instance, which runs for `time` in all: the last one
  /// first. O(times · log(times)).
  void next(Duration time, std::vector<Pause>& pauses);

 private:
  /// Ascending points in [0, whole], as many as there are pauses.
  void cut(Duration whole, std::vector<Duration>& points);

  ExecutionTimes lengths_;
  /// Costs of 1 ns each.
  ExecutionTimes times_;
  Random random_;
  std::vector<Duration> starts_;
  std::vector<Duration> ends_;
};

}  // namespace takt::simulation
